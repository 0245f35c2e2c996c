"""Architectures, one a file. `build_operator` makes the latent operator that a configuration names.

A file here with a function `build` is an architecture by its own name; `package.module:Class` and
`path/file.py:Class` name one of the user's own, constructed with the same arguments.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from torch import nn

from ups.config import OperatorConfig
from ups.errors import ConfigError


def build_operator(
    config: OperatorConfig, *, latent_dim: int, token_grid: Sequence[int], periodic: bool, cond_dim: int = 3
) -> nn.Module:
    """Returns the module (z_BSD, cond_BK) -> z_BSD that `config.architecture` names.

    Raises ConfigError for an unknown name (with the nearest known one), and for a module of the user's that
    cannot be imported, lacks the class, or makes no torch module.
    """
    make = _own(config.architecture) if ":" in config.architecture else _ours(config.architecture)
    given = {"latent_dim": latent_dim, "token_grid": tuple(token_grid), "periodic": periodic, "cond_dim": cond_dim}
    try:
        inspect.signature(make).bind(config, **given)
    except TypeError as error:
        raise ConfigError(
            f"operator.architecture {config.architecture} does not take what an operator is given: {error}",
            hint=f"its arguments must be (config, *, {', '.join(given)})",
        ) from error
    module = make(config, **given)
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"operator.architecture {config.architecture} made a {type(module).__name__}, not a torch.nn.Module"
        )
    return module


def check_named(architecture: str) -> None:
    """Raises ConfigError for an architecture that is not there; code of the user's own is looked for, and not run."""
    if ":" not in architecture:
        _ours(architecture)
        return
    source, _, name = architecture.rpartition(":")
    if not name.isidentifier():
        raise ConfigError(f"operator.architecture {architecture} names no class behind its colon")
    if source.endswith(".py"):
        _parsed(Path(source), architecture)
        return
    # The ranks look in the current folder, too: they are started by python -m.
    top, places = source.partition(".")[0], [str(Path.cwd()), *sys.path]
    if top not in sys.builtin_module_names and PathFinder.find_spec(top, places) is None:
        raise _no_import(architecture, f"No module named '{top}'")


def architectures() -> dict[str, Callable[..., nn.Module]]:
    """Returns the function `build` of each file of this package that has one, by the file's name."""
    found: dict[str, Callable[..., nn.Module]] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(module, "build"):
            found[info.name] = module.build
    return found


def _ours(name: str) -> Callable[..., nn.Module]:
    known = architectures()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
    raise ConfigError(
        f"operator.architecture '{name}' is unknown; {hint}",
        hint="name one of your own as module:Class or file.py:Class",
    )


def _own(place: str) -> Callable[..., nn.Module]:
    source, _, name = place.rpartition(":")
    module = _from_file(Path(source), place) if source.endswith(".py") else _from_name(source, place)
    if not hasattr(module, name):
        close = difflib.get_close_matches(name, dir(module), n=1, cutoff=0.4)
        nearest = f"; did you mean '{close[0]}'?" if close else ""
        raise ConfigError(f"operator.architecture {place}: {source} has no '{name}'{nearest}")
    made: Callable[..., nn.Module] = getattr(module, name)
    return made


def _from_name(source: str, place: str) -> ModuleType:
    try:
        return importlib.import_module(source)
    except ImportError as error:
        raise _no_import(place, str(error)) from error


def _no_import(place: str, why: str) -> ConfigError:
    return ConfigError(
        f"operator.architecture {place} cannot be imported: {why}",
        hint="a file can be named directly: path/to/file.py:Class",
    )


def _parsed(path: Path, place: str) -> None:
    if not path.is_file():
        raise ConfigError(f"operator.architecture {place}: there is no file {path}")
    try:
        ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"operator.architecture {place} cannot be imported: {error}") from error
    except OSError as error:
        raise ConfigError(f"operator.architecture {place} cannot be read: {error.strerror}") from error


def _from_file(path: Path, place: str) -> ModuleType:
    _parsed(path, place)
    name = f"ups_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101 - a .py file always has one
    assert spec.loader is not None  # noqa: S101 - and a loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up there
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ConfigError(f"operator.architecture {place} cannot be imported: {error}") from error
    return module

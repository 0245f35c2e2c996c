"""Finds plugins: every module of a package that has the wanted attribute is one plugin.

No central lists: dropping a file into a folder of plugins adds it. A package with folders in it has its plugins in
these, by theme; one without has them beside each other.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType


class DuplicatePluginError(Exception):
    """Two files claim the same code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenPlugin:
    """A file of a plugin package that cannot be imported; `name` is its module name without the package."""

    name: str
    path: str
    error: Exception


def discover(
    package: ModuleType, *, key: str = "CODE", broken: list[BrokenPlugin] | None = None
) -> dict[str, ModuleType]:
    """Returns the plugins of `package` by the value of their attribute `key`, sorted by it.

    Modules without the attribute are helpers, not plugins. A module that cannot be imported goes into
    `broken` where that list is given, so that one bad file stops no other. Raises DuplicatePluginError
    naming both files where two modules share a value.
    """
    found: dict[str, ModuleType] = {}
    for module in _modules(package, broken):
        value = getattr(module, key, None)
        if value is None:
            continue
        if value in found:
            raise DuplicatePluginError(f"{module.__file__} and {found[value].__file__} both have {key} = {value!r}")
        found[value] = module
    return dict(sorted(found.items()))


def _modules(package: ModuleType, broken: list[BrokenPlugin] | None) -> Iterator[ModuleType]:
    below = [info for info in pkgutil.iter_modules(package.__path__) if info.ispkg]
    themes = [importlib.import_module(f"{package.__name__}.{info.name}") for info in below]
    for theme in themes or [package]:
        yield from _modules_of(theme, broken)


def _modules_of(package: ModuleType, broken: list[BrokenPlugin] | None) -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(package.__path__):
        try:
            yield importlib.import_module(f"{package.__name__}.{info.name}")
        except Exception as error:
            if broken is None:
                raise
            spec = info.module_finder.find_spec(info.name, None)
            path = spec.origin if spec is not None and spec.origin else info.name
            broken.append(BrokenPlugin(name=info.name, path=path, error=error))

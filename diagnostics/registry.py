"""Finds plugins: every module of a package that has the wanted attribute is one plugin.

No central lists: dropping a file into `probes/`, `sections/` or `commands/` adds it.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


class DuplicatePluginError(Exception):
    """Two files claim the same code."""


def discover(package: ModuleType, *, key: str = "CODE") -> dict[str, ModuleType]:
    """Returns the plugins of `package` by the value of their attribute `key`, sorted by it.

    Modules without the attribute are helpers, not plugins. Raises DuplicatePluginError naming
    both files where two modules share a value.
    """
    found: dict[str, ModuleType] = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        value = getattr(module, key, None)
        if value is None:
            continue
        if value in found:
            raise DuplicatePluginError(f"{module.__file__} and {found[value].__file__} both have {key} = {value!r}")
        found[value] = module
    return dict(sorted(found.items()))

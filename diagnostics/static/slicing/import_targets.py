"""What a name of a module means: something whose source is at hand, a module of such, or a name from outside. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from diagnostics.static.slicing.module_statements import Module, ModuleText
from diagnostics.static.slicing.scopes import Imports, NameUse, imported_name


@dataclass(frozen=True, slots=True)
class Own:
    """A name bound in a module whose source is at hand."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A module whose source is at hand, or a package above one."""

    module: str


@dataclass(frozen=True, slots=True)
class Outside:
    """A name from elsewhere: `from module import name`, or `import module` where name is ""."""

    module: str
    name: str
    alias: str  # as it is called where it is used


Target = Own | Whole | Outside


class ModuleTable:
    """The modules whose sources are at hand, parsed when asked for."""

    def __init__(self, sources: Mapping[str, ModuleText]) -> None:
        self._sources = sources
        self._parsed: dict[str, Module] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._sources

    def __getitem__(self, name: str) -> Module:
        if name not in self._parsed:
            self._parsed[name] = Module(self._sources[name])
        return self._parsed[name]

    def meaning(self, module: str, name: str, seen: frozenset[Own] = frozenset()) -> Target | None:
        """Returns what a name of the module's top level means, None for built-in and unknown ones."""
        own = Own(module, name)
        if own in seen:  # two modules that import a name from each other
            return None
        here, seen = self[module], seen | {own}
        units = here.binding.get(name, [])
        node = units[-1].node if all(unit.plain_import for unit in units) and units else None
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self.imported(module, node, name, seen)
        if units:
            return own
        for star in here.stars:
            if star in self and self[star].exports(name):
                found = self.meaning(star, name, seen)
                if found is not None:
                    return found
        return None

    def imported(self, module: str, node: Imports, name: str, seen: frozenset[Own] = frozenset()) -> Target | None:
        """Returns what `name` means that this import in the module binds."""
        for alias in node.names:
            if imported_name(alias) == name:
                if isinstance(node, ast.ImportFrom):
                    return self._from(self[module].absolute(node), alias, seen)
                return self._plain(alias)
        return None

    def of(self, module: str, use: NameUse) -> tuple[Target | None, int]:
        """Returns what a reference means, and how many parts of its chain that takes: 2 for `package.layers.Block`."""
        if use.imported_by is not None:
            found = self.imported(module, use.imported_by, use.name)
        else:
            found = self.meaning(module, use.name)
        taken = 0
        for part in use.chain:
            if not isinstance(found, Whole):
                break
            found, taken = self.attribute(found.module, part.attr), taken + 1
        return found, taken

    def attribute(self, module: str, name: str) -> Target | None:
        """Returns what `module.name` is."""
        found = self.meaning(module, name) if module in self else None
        if found is None and f"{module}.{name}" in self:
            return Whole(f"{module}.{name}")
        return found

    def _from(self, module: str, alias: ast.alias, seen: frozenset[Own]) -> Target:
        found: Target | None = None
        if module in self:
            found = self.meaning(module, alias.name, seen)
        if found is None and f"{module}.{alias.name}" in self:
            found = Whole(f"{module}.{alias.name}")
        return found or Outside(module, alias.name, imported_name(alias))

    def _plain(self, alias: ast.alias) -> Target:
        if alias.name in self:
            return Whole(alias.name if alias.asname else alias.name.partition(".")[0])
        return Outside(alias.name, "", imported_name(alias))

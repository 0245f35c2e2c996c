"""In which order the statements of several modules run, as importing them would. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.slicing.import_targets import ModuleTable
from diagnostics.static.slicing.module_statements import Module, ModuleStatement, imports_in


class ImportOrder:
    """Places in the order of execution; a module that is imported late, in a function, comes last."""

    def __init__(self, modules: ModuleTable) -> None:
        self._modules = modules
        self._begun: list[str] = []
        self._places: dict[tuple[str, int], int] = {}

    @property
    def visited(self) -> tuple[str, ...]:
        """The modules that were imported, the first one first."""
        return tuple(self._begun)

    def place(self, unit: ModuleStatement) -> int:
        """Returns when the statement runs."""
        self.visit(unit.module)
        return self._places[unit.module, unit.place]

    def visit(self, name: str) -> None:
        """Imports a module and the packages above it, where that has not been done."""
        above = name.rpartition(".")[0]
        if above:
            self.visit(above)
        if name not in self._modules or name in self._begun:
            return
        self._begun.append(name)
        module = self._modules[name]
        for unit in module.units:
            for wanted in self._imports(module, unit):
                self.visit(wanted)
            self._places[name, unit.place] = len(self._places)

    def _imports(self, module: Module, unit: ModuleStatement) -> Iterator[str]:
        if isinstance(unit.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        for node in imports_in(unit.node):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            else:
                base = module.absolute(node)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names if f"{base}.{alias.name}" in self._modules)

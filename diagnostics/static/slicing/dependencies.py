"""Which statements of which modules a class or function needs to be what it is. Pure."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.slicing.import_order import ImportOrder
from diagnostics.static.slicing.import_targets import ModuleTable, Outside, Own, Target, Whole
from diagnostics.static.slicing.module_statements import ModuleStatement, imports_in, root_name
from diagnostics.static.slicing.scopes import Imports, NameUse, imported_name

# What a module says to torch as a whole when it is imported.
_SETTINGS = re.compile(
    r"torch\.(?:set_|manual_seed\b|use_deterministic|backends\.|_dynamo\.config|_inductor\.config)|os\.environ\b"
)
_BUILTIN = frozenset(dir(builtins)) | {"__name__", "__doc__", "__debug__"}


class Dependencies:
    """All that the roots need. `problems` are sentences on what cannot be taken along."""

    def __init__(self, modules: ModuleTable, roots: Sequence[Own]) -> None:
        self.modules = modules
        self.order = ImportOrder(modules)
        self.units: dict[tuple[str, int], ModuleStatement] = {}
        self.names: dict[Own, set[tuple[str, int]]] = defaultdict(set)  # and the statements that use them
        self.outside: dict[Outside, None] = {}
        self.stars: dict[str, None] = {}
        self.problems: dict[str, None] = {}
        self.hidden: dict[Target, set[str]] = defaultdict(set)
        self.skipped_annotations = False
        for root in roots:
            self.order.visit(root.module)
        for root in roots:
            self._add_root(root)
        while any([self._add_what_changes(), self._add_operators()]):
            pass

    def meaning(self, unit: ModuleStatement, use: NameUse) -> tuple[Target | None, int]:
        """Returns what a use of a name in a needed statement means, see Modules.of."""
        return self.modules.of(unit.module, use)

    def _add_root(self, root: Own) -> None:
        found = self.modules.meaning(root.module, root.name)
        if isinstance(found, Own):
            self._need(found, ("", 0))
        else:
            self.problems[f"{root.module} has no {root.name} at its top level"] = None

    def _need(self, own: Own, by: tuple[str, int]) -> None:
        known = own in self.names
        self.names[own].add(by)
        if known:
            return
        self.order.visit(own.module)
        for unit in self.modules[own.module].binding[own.name]:
            self._add(unit)

    def _add(self, unit: ModuleStatement) -> bool:
        key = (unit.module, unit.place)
        if key in self.units:
            return False
        self.units[key] = unit
        for name in unit.binds:
            own = Own(unit.module, name)
            if self.modules.meaning(unit.module, name) == own:
                self._need(own, key)
        for use in unit.references:
            self._use(unit, use)
        for node in imports_in(unit.node):
            self._import(unit, node)
        return True

    def _use(self, unit: ModuleStatement, use: NameUse) -> None:
        found, taken = self.modules.of(unit.module, use)
        key = (unit.module, unit.place)
        match found:
            case Own() if use.annotation:
                self.skipped_annotations = True
            case Own():
                self.hidden[found] |= use.hidden if taken or use.imported_by is not None else set()
                self._need(found, key)
            case Outside() if use.imported_by is None or taken:
                self.hidden[found] |= use.hidden if taken else set()
                self.outside |= dict.fromkeys(self._outside(unit, use, found))
            case Whole() if not use.annotation:
                self.problems[f"{unit.module} uses the module {found.module} as an object"] = None
            case None:
                self._unknown(unit, use, taken)

    def _outside(self, unit: ModuleStatement, use: NameUse, found: Outside) -> Iterator[Outside]:
        """Yields what is imported for a use: both `import torch` and `import torch.nn.functional` for "torch"."""
        yield found
        if found.alias != use.name or use.imported_by is not None:
            return
        for binding in self.modules[unit.module].binding.get(use.name, ()):
            if isinstance(binding.node, ast.Import):
                other = self.modules.imported(unit.module, binding.node, use.name)
                if isinstance(other, Outside):
                    yield other

    def _unknown(self, unit: ModuleStatement, use: NameUse, taken: int) -> None:
        if use.annotation or (use.name in _BUILTIN and not taken):
            return
        if use.name == "__file__":
            self.problems[f"{unit.module} looks for files beside itself (__file__)"] = None
        elif taken or use.imported_by is not None:
            written = ".".join([use.name, *(one.attr for one in use.chain[:taken])])
            self.problems[f"{unit.module} uses {written}, whose source is not at hand"] = None
        for star in self.modules[unit.module].stars:
            if star not in self.modules:
                self.stars[star] = None

    def _import(self, unit: ModuleStatement, node: Imports) -> None:
        """An import within a needed statement that binds names of the module's top level stays, as an assignment."""
        for name in (imported_name(alias) for alias in node.names):
            if name in unit.binds:
                found = self.modules.imported(unit.module, node, name)
                if isinstance(found, Own):
                    self._need(found, (unit.module, unit.place))
                elif isinstance(found, Whole):
                    self.problems[f"{unit.module} uses the module {found.module} as an object"] = None

    def _others(self) -> Iterator[ModuleStatement]:
        """Yields the statements not needed so far of all that gets imported, as they run."""
        for module in self.order.visited:
            for unit in self.modules[module].units:
                if (module, unit.place) not in self.units and not unit.plain_import:
                    yield unit

    def _add_what_changes(self) -> bool:
        contributing = {module for module, _ in self.units}
        found = False
        for unit in list(self._others()):
            if self._changes_needed(unit) or (unit.module in contributing and self._is_setting(unit)):
                found |= self._add(unit)
        return found

    def _changes_needed(self, unit: ModuleStatement) -> bool:
        if any(self.modules.meaning(unit.module, name) in self.names for name in unit.changes):
            return True
        for name in unit.calls:
            called = self.modules.meaning(unit.module, name)
            if isinstance(called, Own):
                for defining in self.modules[called.module].binding[called.name]:
                    if any(self._read(called.module, one, defining) for one in defining.sets_global):
                        return True
        return False

    def _read(self, module: str, name: str, writer: ModuleStatement) -> bool:
        """Whether something needed reads what this function writes: a registry that nobody asks has nothing to say."""
        own = self.modules.meaning(module, name)
        if not isinstance(own, Own) or own not in self.names:
            return False
        users = {self.units[key] for key in self.names[own] if key in self.units}
        binding = self.modules[own.module].binding[own.name]
        return any(user is not writer and user not in binding for user in users)

    def _is_setting(self, unit: ModuleStatement) -> bool:
        match unit.node:
            case ast.Expr(value=ast.Call(func=target)):
                pass
            case ast.Assign(targets=[target]):
                pass
            case _:
                return False
        outside = self.modules.meaning(unit.module, root_name(target)) if root_name(target) else None
        if not isinstance(outside, Outside) or not _SETTINGS.match(f"{outside.module}.{_after_root(target)}"):
            return False
        own = (self.modules.of(unit.module, use)[0] for use in unit.references)
        return all(one in self.names for one in own if isinstance(one, Own))

    def _add_operators(self) -> bool:
        """Adds what defines operators that are called as torch.ops.NAMESPACE.name."""
        spaces = {
            use.chain[1].attr
            for unit in self.units.values()
            for use in unit.references
            if len(use.chain) > 2 and use.name == "torch" and use.chain[0].attr == "ops"
        } - {"aten", "prims", "c10d", "_c10d_functional", "higher_order", "profiler"}
        found = False
        for unit in list(self._others()) if spaces else ():
            words = {one.value for one in walk(unit.node) if isinstance(one, ast.Constant)}
            if any(isinstance(word, str) and word.partition("::")[0] in spaces for word in words):
                found |= self._add(unit)
        return found


def _after_root(node: ast.expr) -> str:
    return ast.unparse(node).partition(".")[2]

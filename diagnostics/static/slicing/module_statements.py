"""A module as the statements of its top level: what each binds, uses and changes. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from diagnostics.core.python_syntax import parsed
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.slicing.scopes import Imports, NameUse, bound_names, references


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleText:
    """The source of one module; `package` says that it is an __init__.py."""

    name: str
    text: str
    package: bool = False
    path: str = ""


class ModuleStatement:
    """One statement of a module's top level."""

    def __init__(self, module: str, place: int, node: ast.stmt) -> None:
        self.module = module
        self.place = place
        self.node = node

    @cached_property
    def binds(self) -> frozenset[str]:
        """Names that it gives a meaning to."""
        return frozenset(bound_names([self.node]))

    @cached_property
    def references(self) -> tuple[NameUse, ...]:
        """Uses of the module's names, in functions and classes too."""
        return tuple(references(self.node))

    @property
    def plain_import(self) -> bool:
        """An import that always takes place."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @cached_property
    def changes(self) -> frozenset[str]:
        """Names of objects that it changes in place: `table[k] = v`, `lib.f.restype = t`, `l.append(v)`."""
        if isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or self.plain_import:
            return frozenset()
        return frozenset(name for node in walk(self.node) if (name := _changed(node)))

    @cached_property
    def calls(self) -> frozenset[str]:
        """Names of functions that it calls for what they do: statements `f()`, and decorators."""
        match self.node:
            case ast.Expr(value=ast.Call(func=function)):
                called = [function]
            case ast.FunctionDef(decorator_list=called) | ast.ClassDef(decorator_list=called):
                pass
            case _:
                called = []
        return frozenset(filter(None, (root_name(one) for one in called)))

    @cached_property
    def sets_global(self) -> frozenset[str]:
        """Names of the module that a function assigns or changes when it is called."""
        if not isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return frozenset()
        own = {one.name for one in self.references}
        assigned = {one.name for one in self.references if isinstance(one.node.ctx, ast.Store)}
        return frozenset(assigned | {name for node in walk(self.node) if (name := _changed(node)) in own})


def root_name(node: ast.expr) -> str:
    """Returns "a" for a, a.b, a[b] and a.b(c), "" for what starts otherwise."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case ast.Name(id=name):
                return name
            case _:
                return ""


def _changed(node: ast.AST) -> str:
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            return root_name(node)
        case ast.Expr(value=ast.Call(func=ast.Attribute() as function)):
            return root_name(function)
    return ""


class Module:
    """One parsed module. Raises SyntaxError where its text is none."""

    def __init__(self, source: ModuleText) -> None:
        self.source = source
        self.name = source.name
        self.tree = parsed(source.text)
        kept = (node for node in self.tree.body if not _never_runs(node))
        self.units = [ModuleStatement(source.name, place, node) for place, node in enumerate(kept)]

    @cached_property
    def binding(self) -> Mapping[str, list[ModuleStatement]]:
        """Name -> statements that bind it, in order."""
        found: dict[str, list[ModuleStatement]] = defaultdict(list)
        for unit in self.units:
            for name in unit.binds:
                found[name].append(unit)
        return found

    @cached_property
    def stars(self) -> list[str]:
        """Modules of which everything is imported, the last one first."""
        return [
            self.absolute(unit.node)
            for unit in reversed(self.units)
            if isinstance(unit.node, ast.ImportFrom) and unit.node.names[0].name == "*"
        ]

    @cached_property
    def exported(self) -> frozenset[str] | None:
        """What its `__all__` lists, None where that is not there or not a plain list."""
        for unit in self.binding.get("__all__", ()):
            match unit.node:
                case ast.Assign(value=ast.List(elts=items) | ast.Tuple(elts=items)):
                    return frozenset(str(one.value) for one in items if isinstance(one, ast.Constant))
        return None

    def exports(self, name: str) -> bool:
        """Returns whether `import *` of it hands over the name, if it has it."""
        return name in self.exported if self.exported is not None else not name.startswith("_")

    def absolute(self, node: ast.ImportFrom) -> str:
        """Returns the full name of the module that `from X import` means here."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        up = node.level - 1 if self.source.package else node.level
        base = parts[: len(parts) - up] if up else parts
        return ".".join([*base, *([node.module] if node.module else [])])

    @property
    def future_annotations(self) -> bool:
        """Its annotations are not evaluated."""
        return any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(alias.name == "annotations" for alias in node.names)
            for node in self.tree.body
        )


def imports_in(node: ast.AST) -> list[Imports]:
    """Returns the imports in a statement, those of its functions too."""
    return [one for one in walk(node) if isinstance(one, ast.Import | ast.ImportFrom)]


def _never_runs(node: ast.stmt) -> bool:
    """Docstrings, `from __future__`, `if TYPE_CHECKING:` and what only a program of its own does."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
            return True
        case ast.If(test=test, orelse=[]):
            names = {one.id for one in walk(test) if isinstance(one, ast.Name)}
            attributes = {one.attr for one in walk(test) if isinstance(one, ast.Attribute)}
            return "__name__" in names or "TYPE_CHECKING" in names | attributes
    return False

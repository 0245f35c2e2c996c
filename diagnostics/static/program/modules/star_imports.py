"""What `from module import *` binds, also through modules that do the same, and around a circle of them. Pure."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from diagnostics.static.program.modules.public_names import PUBLIC_NAMES

_MOST_ROUNDS = 30  # modules that hand over what the one before handed over to them
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BUILTINS = frozenset(vars(builtins))


@dataclass(frozen=True, slots=True)
class Handed:
    """What a name means: in full, and the project's file that it comes from with its name there; "" for none."""

    meaning: str
    file: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNames:
    """What a module binds without star imports: what each import means, with its line; all else that it defines."""

    imported: Mapping[str, tuple[Handed, int]]
    defined: Mapping[str, Handed]
    listed: tuple[str, ...] | None = None  # __all__, where it can be read


@dataclass(frozen=True, slots=True)
class Star:
    """One star import: the module, the file that it is, "" where it is none of the project's, and its line."""

    module: str
    file: str
    line: int


@dataclass(eq=False)
class StarImports:
    """Answers for a project: `stars` are the star imports by file, `own` what else a file binds.

    `part` says which file a module's part is: __all__ of a package may name modules that nothing has imported.
    """

    stars: Mapping[str, tuple[Star, ...]]
    own: Callable[[str], OwnNames]
    part: Callable[[str, str], Handed | None]
    _owned: dict[str, OwnNames] = field(default_factory=dict)
    _bound: dict[str, dict[str, Handed]] | None = None

    def of(self, file: str) -> Mapping[str, Handed]:
        """Returns what the star imports of a file bind, without what the file itself binds later or defines."""
        if self._bound is None:
            self._bound = self._found()
        return self._bound.get(file, {})

    def _found(self) -> dict[str, dict[str, Handed]]:
        bound: dict[str, dict[str, Handed]] = {file: {} for file in self.stars}
        for _ in range(_MOST_ROUNDS):
            changed = False
            for file in self.stars:
                now = self._binds(file, bound)
                if now != bound[file]:
                    bound[file], changed = now, True
            if not changed:
                break
        return bound

    def _binds(self, file: str, bound: Mapping[str, Mapping[str, Handed]]) -> dict[str, Handed]:
        own = self._own(file)
        found: dict[str, Handed] = {}
        for star in self.stars[file]:
            for name in () if star.file else PUBLIC_NAMES.get(star.module, ()):
                if name not in own.imported and name not in _BUILTINS:
                    found[name] = Handed(f"{star.module}.{name}")
        for star in self.stars[file]:  # what the project's modules say goes before what is only known of libraries
            for name, handed in self._public(star.file, bound).items() if star.file not in ("", file) else ():
                if name not in own.imported or own.imported[name][1] < star.line:
                    found[name] = handed
        return {name: handed for name, handed in found.items() if name not in own.defined}

    def _public(self, file: str, bound: Mapping[str, Mapping[str, Handed]]) -> dict[str, Handed]:
        """Returns what a module hands over: what __all__ lists, else all without an underscore in front."""
        own = self._own(file)
        has = {name: handed for name, (handed, _) in own.imported.items()} | dict(bound.get(file, {}))
        has |= own.defined
        if own.listed is None:
            return {name: handed for name, handed in has.items() if not name.startswith("_")}
        given = ((name, has.get(name) or self.part(file, name)) for name in own.listed)
        return {name: handed for name, handed in given if handed is not None}

    def _own(self, file: str) -> OwnNames:
        if file not in self._owned:
            self._owned[file] = self.own(file)
        return self._owned[file]


def defined_names(tree: ast.Module) -> frozenset[str]:
    """Returns the names that a module's top level defines or assigns, wherever below `if` and `try` that is."""
    found = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)


def listed_names(tree: ast.Module) -> tuple[str, ...] | None:
    """Returns what __all__ of a module lists, None where it has none, or one that is not written out."""
    found: list[str] = []
    seen = False
    for node in tree.body:
        given = _listing(node)
        if given is None:
            continue
        names = _written_out(given)
        if names is None:
            return None
        found, seen = (found if _adds(node) else []) + names, True
    return tuple(found) if seen else None


def _listing(node: ast.stmt) -> ast.expr | None:
    """Returns what a statement sets __all__ to, or adds to it."""
    if isinstance(node, ast.Assign):
        return node.value if any(_is_all(one) for one in node.targets) else None
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return node.value if _is_all(node.target) else None
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _is_all(call.func.value) and call.args:
        return ast.List([call.args[0]], ast.Load()) if call.func.attr == "append" else call.args[0]
    return None


def _adds(node: ast.stmt) -> bool:
    return isinstance(node, (ast.AugAssign, ast.Expr))


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"


def _written_out(value: ast.expr) -> list[str] | None:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = _written_out(value.left), _written_out(value.right)
        return left + right if left is not None and right is not None else None
    items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else None
    names = [one.value for one in items or () if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return names if items is not None and len(names) == len(items) else None

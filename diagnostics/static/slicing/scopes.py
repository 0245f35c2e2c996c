"""Which names in a statement mean the module's own: neither a function's nor a class's. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from diagnostics.static.program.ast_walk import children

Imports = ast.Import | ast.ImportFrom
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OWN_SCOPE = (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameUse:
    """One use of a name of the module's top level, or of one that a function imports for itself."""

    name: str
    node: ast.Name
    chain: tuple[ast.Attribute, ...] = ()  # "name.a.b", innermost first
    annotation: bool = False  # of an undecorated function or a local variable: nobody evaluates it
    imported_by: Imports | None = None  # the import in a function that binds it there
    hidden: frozenset[str] = frozenset()  # names that mean something else at this place


@dataclass(slots=True)
class _Scope:
    """Names that a function, a comprehension or a class body binds; `places` is where each is bound first."""

    places: dict[str, int]
    imports: dict[str, Imports] = field(default_factory=dict)
    is_class: bool = False


def references(statement: ast.stmt) -> list[NameUse]:
    """Returns the uses of the module's own names in a statement and in all that it holds."""
    return list(_Walk().uses(statement, (), annotation=False))


def bound_names(statements: Iterable[ast.AST]) -> dict[str, int]:
    """Returns the names that these bind in their own scope, each with the line where it is bound first."""
    found: dict[str, int] = {}
    for name, node in _bindings(statements):
        found.setdefault(name, getattr(node, "lineno", 0))
    return found


def imported_name(alias: ast.alias) -> str:
    """Returns the name that this part of an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def _bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, node
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from ((imported_name(alias), node) for alias in aliases if alias.name != "*")
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node
            case ast.MatchMapping(rest=str(name)):
                yield name, node
        if isinstance(node, _COMPREHENSIONS):
            yield from _walrus(node)
        elif not isinstance(node, _OWN_SCOPE):
            yield from _bindings(children(node))


def _walrus(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What `:=` binds in a comprehension belongs to the scope around it."""
    for one in children(node):
        if isinstance(one, ast.NamedExpr) and isinstance(one.target, ast.Name):
            yield one.target.id, one
        if not isinstance(one, (*_FUNCTIONS, ast.ClassDef)):
            yield from _walrus(one)


class _Walk:
    """Yields references; `scopes` are those around a node, outermost first, without the module's."""

    def uses(self, node: ast.AST, scopes: tuple[_Scope, ...], *, annotation: bool) -> Iterator[NameUse]:
        match node:
            case ast.Attribute():
                yield from self._attribute(node, scopes, annotation=annotation)
            case ast.Name():
                yield from self._name(node, (), scopes, annotation=annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from self._function(node, scopes)
            case ast.ClassDef():
                yield from self._all([*node.decorator_list, *node.bases, *node.keywords], scopes)
                inner = _Scope(bound_names(node.body), is_class=True)
                yield from self._all(node.body, (*scopes, inner))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                yield from self._comprehension(node, scopes)
            case ast.AnnAssign() if scopes and not scopes[-1].is_class:
                yield from self.uses(node.annotation, scopes, annotation=True)
                yield from self._all([node.target, *([node.value] if node.value else [])], scopes)
            case _:
                for one in children(node):
                    yield from self.uses(one, scopes, annotation=annotation)

    def _all(self, nodes: Iterable[ast.AST], scopes: tuple[_Scope, ...]) -> Iterator[NameUse]:
        for node in nodes:
            yield from self.uses(node, scopes, annotation=False)

    def _attribute(self, node: ast.Attribute, scopes: tuple[_Scope, ...], *, annotation: bool) -> Iterator[NameUse]:
        chain: list[ast.Attribute] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            chain.insert(0, base)
            base = base.value
        if isinstance(base, ast.Name):
            yield from self._name(base, tuple(chain), scopes, annotation=annotation)
        else:
            yield from self.uses(base, scopes, annotation=annotation)

    def _name(
        self, node: ast.Name, chain: tuple[ast.Attribute, ...], scopes: tuple[_Scope, ...], *, annotation: bool
    ) -> Iterator[NameUse]:
        owner = _owner(node, scopes)
        imported_by = owner.imports.get(node.id) if owner is not None else None
        if owner is None or imported_by is not None:
            hidden = frozenset(name for scope in scopes for name in scope.places if name not in scope.imports)
            yield NameUse(
                name=node.id, node=node, chain=chain, annotation=annotation, imported_by=imported_by, hidden=hidden
            )

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scopes: tuple[_Scope, ...]
    ) -> Iterator[NameUse]:
        given = node.args
        yield from self._all([*given.defaults, *(one for one in given.kw_defaults if one is not None)], scopes)
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
        if not isinstance(node, ast.Lambda):
            yield from self._all(node.decorator_list, scopes)
            silent = not node.decorator_list  # a decorator may look at annotations
            for shown in filter(None, [*(one.annotation for one in arguments), node.returns]):
                yield from self.uses(shown, scopes, annotation=silent)
        yield from self._all(body, (*scopes, _function_scope(body, [one.arg for one in arguments])))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scopes: tuple[_Scope, ...]
    ) -> Iterator[NameUse]:
        yield from self.uses(node.generators[0].iter, scopes, annotation=False)
        inner = (*scopes, _Scope(bound_names(one.target for one in node.generators)))
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        yield from self._all(values, inner)
        for place, one in enumerate(node.generators):
            yield from self._all([*one.ifs, *([one.iter] if place else [])], inner)


def _function_scope(body: list[ast.AST], arguments: list[str]) -> _Scope:
    outside = set(_declared(body))
    bindings = [(name, node) for name, node in _bindings(body) if name not in outside]
    places = dict.fromkeys(arguments, 0)
    imports: dict[str, Imports] = {}
    for name, node in bindings:
        places.setdefault(name, getattr(node, "lineno", 0))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports[name] = node
    others = {name for name, node in bindings if not isinstance(node, ast.Import | ast.ImportFrom)}
    imports = {name: node for name, node in imports.items() if name not in others and name not in arguments}
    return _Scope(places, imports)


def _declared(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yields what `global` and `nonlocal` say of these nodes' own scope."""
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif not isinstance(node, _OWN_SCOPE):
            yield from _declared(children(node))


def _owner(node: ast.Name, scopes: tuple[_Scope, ...]) -> _Scope | None:
    """Returns the scope whose name this is, None for the module's."""
    for depth, scope in enumerate(reversed(scopes)):
        place = scope.places.get(node.id)
        if place is None:
            continue
        if not scope.is_class:
            return scope
        # A class body sees its own names once they are bound, and no function within it does.
        if depth == 0 and (place < node.lineno or isinstance(node.ctx, ast.Store)):
            return scope
    return None

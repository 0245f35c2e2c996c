"""What a transform is made of: through names, attributes, tuples, lists, functions that return it, and compositions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.samples.drawn_geometry import draws_geometry, draws_of_library
from diagnostics.static.torch_code.module_classes import ModuleClass, class_tree

_ROUNDS = 9
_MOST = 6
_CALLED = ("__call__", "forward", "apply", "_transform")
_LISTS = frozenset(["append", "insert", "extend"])
At = int | str | None  # which part of what a function returns: by its place, by its key
Way = tuple[ast.expr, Function, At]


def drawing_part(value: ast.expr, function: Function, project: Project) -> tuple[ast.AST, Function] | None:
    """Returns what of a transform draws geometry, with the function it stands in."""
    return _part(value, function, None, project, _ROUNDS)


def _part(
    value: ast.expr, function: Function, at: At, project: Project, rounds: int
) -> tuple[ast.AST, Function] | None:
    if not rounds:
        return None
    if isinstance(value, ast.Call) and _draws(value, function, project):
        return value, function
    if isinstance(value, (ast.Name, ast.Attribute, ast.Lambda)):
        for one in list(project.meant(value, function))[:_MOST]:
            if not one.name.endswith("__init__") and draws_geometry(one, project):
                return one.syntax, one
    for inner, where, part in _ways(value, function, at, project):
        found = _part(inner, where, part, project, rounds - 1)
        if found is not None:
            return found
    return None


def _draws(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call makes a transform that draws."""
    if draws_of_library(project.name(call.func, function), call):
        return True
    known = class_tree(project).named(call.func, function)
    return known is not None and any(draws_geometry(one, project) for one in _called(known, project))


def _called(known: ModuleClass, project: Project) -> Iterator[Function]:
    """Yields what runs where an object of a class is called: the nearest of its bases has it."""
    for name in _CALLED:
        for one in (known, *class_tree(project).bases(known)):
            own = [node for node in one.syntax.body if isinstance(node, ast.FunctionDef) and node.name == name]
            if own:
                yield from (project.by_syntax[id(node)] for node in own if id(node) in project.by_syntax)
                break


def _ways(value: ast.expr, function: Function, at: At, project: Project) -> Iterator[Way]:
    match value:
        case ast.Name():
            yield from _of_name(value, function, at, project)
        case ast.Attribute():
            yield from _of_attribute(value, function, at, project)
        case ast.Call():
            yield from _of_call(value, function, at, project)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            chosen = [parts[at]] if isinstance(at, int) and at < len(parts) else parts
            yield from ((one.value if isinstance(one, ast.Starred) else one, function, None) for one in chosen)
        case ast.Dict(keys=keys, values=values):
            for key, one in zip(keys, values, strict=True):
                if at is None or (isinstance(key, ast.Constant) and key.value == at):
                    yield one, function, None
        case ast.BinOp(left=left, right=right):
            yield from ((one, function, at) for one in (left, right))
        case ast.IfExp(body=body, orelse=orelse):
            yield from ((one, function, at) for one in (body, orelse))
        case ast.BoolOp(values=values):
            yield from ((one, function, at) for one in values)
        case ast.Subscript(value=base, slice=index):
            chosen_at = index.value if isinstance(index, ast.Constant) and isinstance(index.value, (int, str)) else None
            yield base, function, chosen_at


def _of_call(call: ast.Call, function: Function, at: At, project: Project) -> Iterator[Way]:
    if class_tree(project).named(call.func, function) is None:
        targets = [one for one in project.targets(call, function) if not one.name.endswith("__init__")]
        for target in targets[:_MOST]:
            for node in target.nodes_of(ast.Return):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield node.value, target, at
        if targets:
            return
    if isinstance(at, str):  # dict(image=..., mask=...)
        yield from ((one.value, function, None) for one in call.keywords if one.arg == at)
        return
    yield from ((one.value if isinstance(one, ast.Starred) else one, function, None) for one in call.args)
    yield from ((one.value, function, None) for one in call.keywords if one.arg != "additional_targets")


def _of_name(name: ast.Name, function: Function, at: At, project: Project) -> Iterator[Way]:
    scope: Function | None = function
    while scope is not None:
        made = list(bound(name.id, scope))
        if made:
            yield from ((value, scope, at if part is None else part) for value, part in made)
            return
        if name.id in scope.parameters:
            yield from ((value, where, at) for value, where in list(project.arguments(name.id, scope))[:_MOST])
            default = default_of(scope, name.id)
            if default is not None:
                yield default, scope, at
            return
        scope = scope.outer
    yield from ((value, where, at) for value, where in project.imported_values(name.id, function))


def _of_attribute(value: ast.Attribute, function: Function, at: At, project: Project) -> Iterator[Way]:
    kind = project.class_of(function) if last_name(value.value) == "self" else None
    for one in (kind, *project.bases(kind)) if kind is not None else ():
        for method in project.functions_seeing(one):
            yield from ((made, method, at if part is None else part)
                        for made, part in bound(f"self.{value.attr}", method))  # fmt: skip
    if kind is None:
        yield from ((made, where, at) for made, where in project.attribute_values(value, function)[:_MOST])


def bound(text: str, function: Function) -> Iterator[tuple[ast.expr, At]]:
    """Yields (value, part of it) of what a name or attribute is set to in a function, and what is put into it."""
    for node in function.nodes_of((ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Call)):
        if isinstance(node, ast.Call):
            puts = isinstance(node.func, ast.Attribute) and node.func.attr in _LISTS
            if puts and ast.unparse(node.func.value) == text:  # type: ignore[attr-defined]
                yield from ((one, None) for one in node.args)
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
        for target in targets:
            value = node.value  # type: ignore[attr-defined]
            if value is not None and isinstance(target, (ast.Tuple, ast.List)):
                for place, one in enumerate(target.elts):
                    if ast.unparse(one) == text:
                        yield value, place
            elif value is not None and ast.unparse(target) == text:
                yield value, None

"""What was taken out of its wrapper: `model.module` under another name, behind a property, by a function. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_sites import CollectiveSites
from diagnostics.static.spmd.library_objects import LibraryType

_WRAPPERS = {LibraryType.DDP, LibraryType.APEX, LibraryType.FSDP}
_ROUNDS = 3


def unwrapped_from(value: ast.expr, function: Function, project: Project) -> str | None:
    """Returns the text of the wrapper that a model was taken out of, None where it is none, or may be the wrapper."""
    if isinstance(value, ast.Attribute) and value.attr == "module":
        return None  # its own text says so
    found = set(_from(value, function, project, _ROUNDS))
    return found.pop() if len(found) == 1 else None


def _from(value: ast.expr, function: Function, project: Project, rounds: int) -> Iterator[str]:
    if rounds < 0:
        return
    match value:
        case ast.Attribute(value=held, attr="module"):
            if _WRAPPERS.intersection(project.fact(CollectiveSites).objects.of(held, function)):
                yield ast.unparse(held)
        case ast.IfExp(test=ast.Call(), body=body, orelse=orelse):  # `m.module if hasattr(m, "module") else m`
            for arm in (body, orelse):
                yield from _from(arm, function, project, rounds - 1)
        case ast.Call(func=ast.Name(id="getattr"), args=[held, ast.Constant(value="module"), *_]):
            if _WRAPPERS.intersection(project.fact(CollectiveSites).objects.of(held, function)):
                yield ast.unparse(held)
        case ast.Call():
            yield from _by_function(value, function, project, rounds)
        case ast.Name(id=name) if len(function.assigned.get(name, ())) == 1:
            yield from _from(function.assigned[name][0], function, project, rounds - 1)
        case ast.Attribute():
            for getter in project.getters(value, function):
                for node in getter.nodes_of(ast.Return):
                    if isinstance(node, ast.Return) and node.value is not None:
                        yield from _from(node.value, getter, project, rounds - 1)
            kept = project.attribute_values(value, function)
            if len(kept) == 1 and isinstance(value.value, ast.Name) and value.value.id == "self":
                yield from _from(kept[0][0], kept[0][1], project, rounds - 1)
        case _:
            return


def _by_function(call: ast.Call, function: Function, project: Project, rounds: int) -> Iterator[str]:
    """Yields what `unwrap(model)` takes the model out of, as its caller calls it."""
    for target in project.targets(call, function):
        given = dict(zip(target.parameters[target.implied :], call.args, strict=False))
        for node in target.nodes_of(ast.Return):
            if isinstance(node, ast.Return) and node.value is not None:
                for text in _from(node.value, target, project, rounds - 1):
                    held = given.get(text)
                    if held is not None and _WRAPPERS.intersection(
                        project.fact(CollectiveSites).objects.of(held, function)
                    ):
                        yield ast.unparse(held)

"""Token ids that were padded to one length: by a tokenizer, pad_sequence, or a function of the project. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_PAD = re.compile(r"(?:^|_)pad(?:ding)?(?:$|_)", re.IGNORECASE)
_JOINS = frozenset(["cat", "stack", "concat", "tensor", "LongTensor"])
_SAME = frozenset(["clone", "detach", "to", "long", "contiguous", "cuda", "t", "transpose"])
_DEEPEST = 8


def padded_by(
    value: ast.expr | None, function: Function, project: Project, deep: int = 0
) -> tuple[ast.AST, Function] | None:
    """Returns the call that padded a value, and where it stands; None where none is seen."""
    if value is None or deep > _DEEPEST:
        return None
    match value:
        case ast.Call():
            return _by_call(value, function, project, deep)
        case ast.Name():
            made = (
                *function.assigned.get(value.id, ()),
                *_appended(value.id, function),
                *_set_under_key(value.id, function),
            )
            found = (padded_by(one, function, project, deep + 1) for one in made)
            return next((one for one in found if one is not None), None)
        case ast.Subscript() | ast.Attribute():
            return padded_by(value.value, function, project, deep)
        case ast.Tuple() | ast.List():
            parts = (padded_by(one, function, project, deep + 1) for one in value.elts)
            return next((one for one in parts if one is not None), None)
        case ast.ListComp():
            return padded_by(value.elt, function, project, deep + 1)
    return None


def _by_call(call: ast.Call, function: Function, project: Project, deep: int) -> tuple[ast.AST, Function] | None:
    name, words = last_name(call.func), {one.arg: one.value for one in call.keywords}
    padding = words.get("padding", words.get("pad_to_max_length"))
    if isinstance(padding, ast.Constant) and padding.value not in (False, None, "do_not_pad", 0):
        return (call, function) if padding.value is True or isinstance(padding.value, str) else None
    if name == "pad_sequence" and not isinstance(words.get("padding_value"), ast.UnaryOp):
        return call, function
    if name == "pad" and (filled := words.get("value")) is not None and _PAD.search(last_name(filled)):
        return call, function
    if name in _JOINS and call.args:
        return padded_by(call.args[0], function, project, deep + 1)
    if name in _SAME and isinstance(call.func, ast.Attribute):
        return padded_by(call.func.value, function, project, deep)
    for target in project.targets(call, function):
        for node in target.nodes_of(ast.Return):
            found = padded_by(node.value, target, project, deep + 1) if isinstance(node, ast.Return) else None
            if found is not None:
                return found
    return None


def _appended(name: str, function: Function) -> Iterator[ast.expr]:
    """Yields what is appended to a list."""
    for node in function.nodes_of(ast.Call):
        held = node.func if isinstance(node, ast.Call) and last_name(node.func) == "append" else None
        if isinstance(held, ast.Attribute) and isinstance(held.value, ast.Name) and held.value.id == name:
            yield from node.args  # type: ignore[attr-defined]


def _set_under_key(name: str, function: Function) -> Iterator[ast.expr]:
    """Yields what is set under a key of a dict: `batch["input_ids"] = pad_sequence(...)`."""
    for node in function.nodes_of(ast.Assign):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        match target:
            case ast.Subscript(value=ast.Name(id=held), slice=ast.Constant(value=str() as key)):
                if held == name and "ids" in key:
                    yield node.value  # type: ignore[attr-defined]

"""Token ids that were padded to one length: by a tokenizer, pad_sequence, by hand, or a function. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_PAD = re.compile(r"(?:^|_)pad(?:ding)?(?:$|_)", re.IGNORECASE)
_TOKENIZERS = re.compile(r"tokenizer|processor|\btok\b", re.IGNORECASE)
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
            if any(map(_is_blank, made)) and (row := _filled_row(value.id, function)) is not None:
                return row, function
            found = (padded_by(one, function, project, deep + 1) for one in made)
            return next((one for one in found if one is not None), None)
        case ast.BinOp(op=ast.Add(), right=ast.BinOp(op=ast.Mult(), left=ast.List(elts=[_]), right=missing)):
            return (value, function) if "len(" in ast.unparse(missing) else None
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
    if name == "pad" and isinstance(call.func, ast.Attribute) and _TOKENIZERS.search(ast.unparse(call.func.value)):
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


def _is_blank(value: ast.expr) -> bool:
    """Whether a value is a tensor of one number."""
    return isinstance(value, ast.Call) and last_name(value.func) in ("full", "zeros", "full_like", "ones")


def _filled_row(name: str, function: Function) -> ast.AST | None:
    """Returns where a row of a tensor is filled up to a length: `out[i, : len(row)] = row`."""
    for node in function.nodes_of(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=held), slice=ast.Tuple(elts=[_, cut]))]):
                if held == name and isinstance(cut, ast.Slice) and cut.upper is not None:
                    return node
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

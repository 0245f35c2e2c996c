"""What is joined of several parts and made unique, which puts it in the order of its numbers. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.functions import Function, last_name

# Not sort(): the first of what is sorted by its scores are the best ones, and meant.
_SORTS = frozenset(["unique", "sorted", "union1d", "set", "frozenset", "union"])
_JOINS = frozenset(["cat", "concat", "concatenate", "hstack", "union1d", "union", "chain"])
# What gives back the same items in the same order.
_SAME = frozenset(
    ["list", "tuple", "tensor", "as_tensor", "LongTensor", "from_numpy", "array", "asarray", "tolist", "to", "long",
     "int", "numpy", "cpu", "cuda", "view", "reshape", "flatten", "ravel", "clone"]
)  # fmt: skip
_DEPTH = 4


@dataclass(frozen=True, slots=True, eq=False)
class SortedJoin:
    """A name that holds joined parts in sorted order."""

    name: str
    node: ast.Assign
    parts: frozenset[str]


def sorted_joins(function: Function) -> Iterator[SortedJoin]:
    """Yields what is sorted and joined of several parts, under a name of its own."""
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, several = node.targets[0], False
        if isinstance(target, ast.Tuple) and target.elts:
            target, several = target.elts[0], True
        if not isinstance(target, ast.Name) or len(function.assigned.get(target.id, ())) != 1:
            continue
        joined = _below_sort(node.value, function, several)
        parts = frozenset(_parts(joined, function, _DEPTH)) if joined is not None else frozenset[str]()
        if len(parts) > 1 and target.id not in parts:
            yield SortedJoin(target.id, node, parts)


def _below_sort(value: ast.expr, function: Function, several: bool, depth: int = _DEPTH) -> ast.expr | None:
    """Returns what is sorted in a value: `x` of `torch.unique(x)`, `x.unique()`, `list(set(x))`."""
    if not depth:
        return None
    match value:
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)) if isinstance(inner, ast.Call):
            return _below_sort(inner, function, True, depth - 1)
        case ast.BinOp(op=ast.BitOr()):
            return value if _is_set(value) else None
        case ast.Name(id=name) if depth < _DEPTH:  # only behind list(): a name alone is told where it is made
            made = function.assigned.get(name, ())
            return value if len(made) == 1 and _is_set(made[0]) else None
        case ast.Call(func=func):
            called = last_name(func)
            given = value.args[0] if value.args else None
            if called == "sorted" and (value.keywords or given is None or not _is_set_named(given, function)):
                return None  # by a key or a score: the first ones are meant
            if called in _SORTS:
                if not several and any((one.arg or "").startswith("return_") for one in value.keywords):
                    return None
                if called in ("union1d", "union"):
                    return value
                return given if given is not None and not _is_method(func) else _owner(func)
            if called in _SAME:
                inside = _owner(func) if _is_method(func) or given is None else given
                return _below_sort(inside, function, several, depth - 1) if inside is not None else None
    return None


def _is_set(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.BitOr) and _is_set(value.left) and _is_set(value.right)
    return isinstance(value, (ast.Set, ast.SetComp)) or (
        isinstance(value, ast.Call) and last_name(value.func) in ("set", "frozenset", "union")
    )


def _is_set_named(value: ast.expr, function: Function) -> bool:
    """Whether a value is a set, or the name of one."""
    made = function.assigned.get(value.id, ()) if isinstance(value, ast.Name) else (value,)
    return bool(made) and all(map(_is_set, made))


def _is_method(func: ast.expr) -> bool:
    """Whether what is called is a method of a value, not a function of a library: `x.unique()`, not `torch.unique`."""
    owner = _owner(func)
    return owner is not None and not (isinstance(owner, ast.Name) and owner.id in ("torch", "np", "numpy", "itertools"))


def _owner(func: ast.expr) -> ast.expr | None:
    return func.value if isinstance(func, ast.Attribute) else None


def _parts(value: ast.expr, function: Function, depth: int) -> Iterator[str]:
    """Yields the names of the parts that a value is joined of."""
    if not depth:
        return
    match value:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            for one in elts:
                yield from _part(one.value if isinstance(one, ast.Starred) else one, function, depth)
        case ast.BinOp(left=left, right=right, op=ast.Add() | ast.BitOr()):
            for one in (left, right):
                yield from _part(one, function, depth)
        case ast.Call(func=func, args=args) if last_name(func) in _JOINS or last_name(func) in ("set", "frozenset"):
            if last_name(func) == "union" and (owner := _owner(func)) is not None:
                yield from _part(owner, function, depth)
            for one in args[:1] if last_name(func) not in ("union1d", "union", "chain") else args:
                yield from (
                    _parts(one, function, depth - 1) if not isinstance(one, ast.Name) else _listed(one, function, depth)
                )
        case ast.Name():
            yield from _listed(value, function, depth)


def _part(value: ast.expr, function: Function, depth: int) -> Iterator[str]:
    while isinstance(value, ast.Call) and last_name(value.func) in (_SAME | {"set"}):
        inside = _owner(value.func) if _is_method(value.func) or not value.args else value.args[0]
        if inside is None:
            return
        value = inside
    is_sampled = isinstance(value, ast.Call) and last_name(value.func) not in _JOINS
    if is_sampled or isinstance(value, (ast.Name, ast.Attribute)):
        yield ast.unparse(value)
    elif isinstance(value, (ast.BinOp, ast.Call)):
        yield from _parts(value, function, depth - 1)


def _listed(value: ast.Name, function: Function, depth: int) -> Iterator[str]:
    """Yields the parts of a list that grows, `seen = [seeds]` and `seen.append(more)`; another name is a part."""
    made = [one for one in function.assigned.get(value.id, ()) if isinstance(one, (ast.List, ast.Call, ast.BinOp))]
    lists = [one for one in made if (isinstance(one, ast.List) and one.elts) or not isinstance(one, ast.List)]
    if len(lists) != 1 or (isinstance(lists[0], ast.Call) and last_name(lists[0].func) not in (_JOINS | {"set"})):
        yield value.id
        return
    yield from _parts(lists[0], function, depth - 1)
    for call in function.nodes_of(ast.Call):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "update"), args=[more]
            ):
                if name == value.id:
                    yield from (
                        _part(more, function, depth) if isinstance(more, (ast.Name, ast.Attribute)) else ["more"]
                    )

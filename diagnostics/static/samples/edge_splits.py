"""Lists that are put into a random order and cut into parts, with what each part is called. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.samples.transforms import bound

ORDERS = frozenset(["randperm", "permutation"])
_SHUFFLES, _SPLITS = frozenset(["shuffle"]), frozenset(["train_test_split"])
_MOST_CALLERS = 4
_SAME = frozenset(["from_numpy", "tensor", "as_tensor", "array", "asarray", "list", "tolist", "numpy", "LongTensor"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomCut:
    """`value` is put into a random order at `place`, and parts of it are taken: (name, where)."""

    value: ast.expr
    place: ast.AST
    parts: tuple[tuple[str, ast.AST], ...]


def splits(function: Function, project: Project) -> Iterator[RandomCut]:
    """Yields what a function cuts into two parts or more by chance."""
    orders = dict(_assigned_calls(function, ORDERS))
    named = list(_named(function, project))
    by_text: dict[str, list[tuple[str, ast.Subscript, str]]] = defaultdict(list)
    for name, value in named if orders else ():
        for one in walk(value):
            order = _piece(one.slice, function, orders) if isinstance(one, ast.Subscript) else ""
            if order and isinstance(one, ast.Subscript) and ast.unparse(one.value) != order:
                by_text[ast.unparse(one.value)].append((name, one, order))
    for pieces in by_text.values():
        if len(pieces) > 1:
            taken = tuple((name, one) for name, one, _ in pieces)
            yield RandomCut(value=pieces[0][1].value, place=orders[pieces[0][2]], parts=taken)
    for name, value, place in _shuffled(function, orders):
        cut = [(called, one) for called, part in named for one in walk(part)
               if _cuts(one, name) and getattr(one, "lineno", 0) > getattr(place, "lineno", 0)]  # fmt: skip
        if len(cut) > 1:
            yield RandomCut(value=value, place=place, parts=tuple(cut))
    for node in function.nodes_of(ast.Assign):
        call, target = node.value, node.targets[0]  # type: ignore[attr-defined]
        if isinstance(call, ast.Call) and last_name(call.func) in _SPLITS and isinstance(target, ast.Tuple):
            for at, given in enumerate(call.args):
                parts = tuple((last_name(one), call) for one in target.elts[2 * at : 2 * at + 2])
                if len(parts) == 2:
                    yield RandomCut(value=given, place=call, parts=parts)


def _named(function: Function, project: Project) -> Iterator[tuple[str, ast.expr]]:
    """Yields (name, value) of what is assigned, one of several at once too, and what is returned, by callers' names."""
    for node in function.nodes_of((ast.Assign, ast.Return)):
        value = node.value  # type: ignore[attr-defined]
        targets = [node.targets[0]] if isinstance(node, ast.Assign) else list(_callers_targets(function, project))
        for target in targets if value is not None else ():
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                yield from ((last_name(one), part) for one, part in zip(target.elts, value.elts, strict=False))
            elif isinstance(node, ast.Assign):
                yield last_name(target), value
        if isinstance(value, ast.Dict) and isinstance(node, ast.Return):
            yield from ((str(key.value), part) for key, part in zip(value.keys, value.values, strict=True)
                        if isinstance(key, ast.Constant))  # fmt: skip


def _callers_targets(function: Function, project: Project) -> Iterator[ast.expr]:
    """Yields what the results of a function are assigned to where it is called: the first that names several."""
    for call, caller in project.callers(function)[:_MOST_CALLERS]:
        for node in caller.nodes_of(ast.Assign):
            assert isinstance(node, ast.Assign)  # noqa: S101 (asked for by kind)
            if node.value is call and isinstance(node.targets[0], ast.Tuple):
                yield node.targets[0]
                return


def _assigned_calls(function: Function, names: frozenset[str]) -> Iterator[tuple[str, ast.Call]]:
    for node in function.nodes_of(ast.Assign):
        value = _unwrapped(node.value) if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and last_name(value.func) in names and isinstance(node, ast.Assign):
            yield from ((one.id, value) for one in node.targets if isinstance(one, ast.Name))


def _unwrapped(value: ast.expr) -> ast.expr:
    """Returns what is only turned into a tensor, an array or a list: `torch.from_numpy(rng.permutation(n))`."""
    while isinstance(value, ast.Call) and last_name(value.func) in _SAME:
        if value.args:
            value = value.args[0]
        elif isinstance(value.func, ast.Attribute):
            value = value.func.value
        else:
            break
    return value


def _piece(index: ast.expr, function: Function, orders: dict[str, ast.Call]) -> str:
    """Returns the permutation of which an index is a piece: `order[:n]`, by a name too."""
    last = index.elts[-1] if isinstance(index, ast.Tuple) and index.elts else index
    made = [one for one, _ in bound(last.id, function)] if isinstance(last, ast.Name) else [last]
    for value in made:
        for one in walk(value):
            if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Slice) and last_name(one.value) in orders:
                return last_name(one.value)
    return ""


def _shuffled(function: Function, orders: dict[str, ast.Call]) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    """Yields (name, what it was, where) of what a function puts into a random order as a whole."""
    for node in function.nodes_of((ast.Assign, ast.Expr)):
        value = node.value  # type: ignore[attr-defined]
        if isinstance(node, ast.Expr):
            shuffles = isinstance(value, ast.Call) and last_name(value.func) in _SHUFFLES and len(value.args) == 1
            if shuffles and isinstance(value.args[0], ast.Name):
                yield value.args[0].id, value.args[0], value
            continue
        target = node.targets[0]  # type: ignore[attr-defined]
        if not isinstance(target, ast.Name):
            continue
        if isinstance(value, ast.Subscript):
            index = value.slice.elts[-1] if isinstance(value.slice, ast.Tuple) and value.slice.elts else value.slice
            drawn = isinstance(index, ast.Call) and last_name(index.func) in ORDERS
            if drawn or (isinstance(index, ast.Name) and index.id in orders):
                yield target.id, value.value, value
        elif isinstance(value, ast.Call) and last_name(value.func) == "permutation" and len(value.args) == 1:
            yield target.id, value.args[0], value  # of numpy, of the rows themselves


def _cuts(node: ast.AST, name: str) -> bool:
    """Whether a node is a piece of a list: `edges[:n]`, `edges[:, n:]`."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(one, ast.Slice) and (one.lower is not None or one.upper is not None) for one in parts)

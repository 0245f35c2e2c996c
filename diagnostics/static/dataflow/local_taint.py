"""Values in tests that each rank has worked out for itself: its loss, what it has collected. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import DATA, LOADER_NAMES, LOSS, Taint
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name

_ROUNDS = 3
_LOSS = re.compile(r"^(?:\w+_)?loss$", re.IGNORECASE)  # no loss_scale, no loss_weight
_COLLECTS = {"append", "extend", "add", "update", "put"}


def rank_local_values(test: ast.expr, function: Function, taints: RankTaint) -> Iterator[Taint]:
    """Yields why a test falls by what the rank alone has: comparisons with a loss, "is what I collected empty?"."""
    for node in walk(test):
        match node:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]):
                for side in (left, right):
                    if _is_loss(side, function, taints, _ROUNDS):
                        yield Taint(LOSS, function.file, node.lineno, function.name, syntax=side)
            case ast.Compare(left=ast.Call(args=[ast.Name() as measured]) as call, comparators=[ast.Constant(value=0)]):
                # "Is there anything in it?" of a part of a batch; a loader is as long everywhere.
                counted = last_name(call.func) == "len" and not LOADER_NAMES.search(measured.id)
                found = taints.of(measured, function) if counted else None
                if found is not None and found.why == DATA:
                    yield Taint(DATA, function.file, node.lineno, function.name, syntax=measured)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute() as held):
                if _is_collected(held, function, taints):
                    yield Taint(DATA, function.file, node.lineno, function.name, syntax=ast.Name(held.attr, ast.Load()))


def _is_loss(value: ast.expr, function: Function, taints: RankTaint, rounds: int) -> bool:
    """Whether a value is made of a loss that no collective has made equal."""
    if rounds < 0 or taints.is_agreed(value, function):
        return False
    match value:
        case ast.Attribute():
            return _LOSS.match(value.attr) is not None and _root(value) not in ("self", "args", "cfg", "config")
        case ast.Name():
            made = [one for one in _made(value.id, function) if one is not value]
            return any(
                _is_loss(one, function, taints, rounds - 1) or _mentions_loss(one, function, taints) for one in made
            )
        case ast.BinOp():
            return any(_is_loss(side, function, taints, rounds) for side in (value.left, value.right))
        case _:
            return False


def _root(value: ast.expr) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return last_name(value)


def _mentions_loss(value: ast.expr, function: Function, taints: RankTaint) -> bool:
    """Whether a value is a loss read off: `loss.item()`, `loss.detach()`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    base = value.func.value
    return value.func.attr in ("item", "detach", "cpu") and "loss" in last_name(base).lower() and not taints.is_agreed(
        base, function
    )  # fmt: skip


def _made(name: str, function: Function) -> list[ast.expr]:
    """Returns what a name is assigned, and what is added to it."""
    added = [
        node.value
        for node in function.nodes_of(ast.AugAssign)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name
    ]
    return [*function.assigned.get(name, ()), *added]


def _is_collected(held: ast.Attribute, function: Function, taints: RankTaint) -> bool:
    """Whether `self.x` starts as an empty list and is filled by what the rank sees."""
    made = taints.program.attribute_values(held, function)
    if not any(isinstance(value, (ast.List, ast.Dict)) and not ast.dump(value).count("Constant") for value, _ in made):
        return False
    calls = (call for name in _COLLECTS for call, _ in taints.program.calls_by_name.get(name, ()))
    return any(
        isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Attribute)
        and call.func.value.attr == held.attr
        for call in calls
    )  # fmt: skip

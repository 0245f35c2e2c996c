"""Operators and functions of Python on values that are known. Pure."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from diagnostics.static.dataflow.rank_predicates import OPEN, OnRank

RANK_VARIABLES = ("RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
WORLD_VARIABLES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE")

OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne,
    ast.In: lambda one, several: one in several, ast.NotIn: lambda one, several: one not in several,
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.BitAnd: operator.and_, ast.BitXor: operator.xor, ast.BitOr: operator.or_,
    ast.LShift: lambda one, other: one << min(other, 64), ast.RShift: operator.rshift,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "abs": abs, "len": len, "bool": bool, "list": list,
    "divmod": lambda one, other: list(divmod(one, other)),
}  # fmt: skip
MOST_ITEMS = 64


def variable(name: object, on: OnRank) -> Any:
    """Returns the text that the launcher puts into a variable."""
    return str(on.rank) if name in RANK_VARIABLES else str(on.world) if name in WORLD_VARIABLES else OPEN


def turned(op: ast.unaryop, value: Any) -> Any:
    """Returns what a unary operator makes of a value."""
    if value is OPEN:
        return OPEN
    if isinstance(op, ast.Not):
        return not value
    return -value if isinstance(op, ast.USub) and isinstance(value, int) else OPEN


def applied(op: ast.AST, one: Any, other: Any) -> Any:
    """Returns what an operator makes of two values."""
    apply = OPERATORS.get(type(op))
    if apply is None or one is OPEN or other is OPEN:
        return OPEN
    return tried(lambda: apply(one, other))


def computed(name: str, values: list[Any]) -> Any:
    """Returns what one of FUNCTIONS makes of values."""
    if name == "range":
        return tried(lambda: list(range(*values))[:MOST_ITEMS])
    return tried(lambda: FUNCTIONS[name](*values))


def tried(work: Callable[[], Any]) -> Any:
    """Returns a result, OPEN where the operands do not fit."""
    try:
        return work()
    except (TypeError, ZeroDivisionError, OverflowError, ValueError, MemoryError):
        return OPEN

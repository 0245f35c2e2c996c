"""Operators and functions of Python on values that are known. Pure."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.rank_predicates import COMMON_OPERATORS, OPEN, ConcreteRank

OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    **COMMON_OPERATORS,
    ast.BitOr: operator.or_, ast.LShift: lambda one, other: one << min(other, 64), ast.RShift: operator.rshift,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "abs": abs, "len": len, "bool": bool, "list": list,
    "divmod": lambda one, other: list(divmod(one, other)),
}  # fmt: skip
MOST_ITEMS = 64


def variable(name: object, on: ConcreteRank) -> Any:
    """Returns the text that the launcher puts into a variable."""
    return (
        str(on.rank)
        if name in rank_words.RANK_VARIABLES
        else str(on.world)
        if name in rank_words.WORLD_VARIABLES
        else OPEN
    )


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

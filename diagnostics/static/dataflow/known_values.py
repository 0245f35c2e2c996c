"""What an expression comes to where the values of some variables are known. Pure; nothing of the job is executed.

`values` are by their text: {"loss": 0.5, "self.stop": True, "len(batches)": 3, "cfg['epochs']": 2}. Of a list or a text
no more is known than its length.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from diagnostics.core.frame import Scalar
from diagnostics.static.dataflow.concrete_operators import applied, tried
from diagnostics.static.dataflow.rank_predicates import OPEN
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name

Values = Mapping[str, Scalar]
_ASKS: dict[str, Callable[..., Any]] = {
    "isnan": math.isnan, "isfinite": math.isfinite, "isinf": math.isinf, "abs": abs, "min": min, "max": max,
    "int": int, "float": float, "bool": bool, "round": round, "ceil": math.ceil, "floor": math.floor,
}  # fmt: skip
_OF_ONE_NUMBER = {"item", "all", "any", "detach", "cpu", "float", "int", "bool", "squeeze"}  # of a tensor that is one
_IDENTITY = {ast.Is: operator.is_, ast.IsNot: operator.is_not}
_DEEPEST = 20


def truth(test: ast.expr, values: Values) -> bool | None:
    """Returns how a test falls, None where that is not known."""
    found = _value(test, values, _DEEPEST)
    if found is OPEN:
        length = values.get(f"len({ast.unparse(test)})") if isinstance(test, _Named) else None
        return None if length is None else bool(length)
    return bool(found)


def turns(iterable: ast.expr, values: Values) -> int | None:
    """Returns how often a loop over it goes round: over `range(n)`, or what has a known length; None unknown."""
    name = last_name(iterable) if isinstance(iterable, ast.Call) else ""
    if isinstance(iterable, ast.Call) and not iterable.keywords:
        if name == "range":
            bounds = [_value(one, values, _DEEPEST) for one in iterable.args]
            known = bounds and all(isinstance(one, int) for one in bounds)
            count = tried(lambda: len(range(*bounds))) if known else OPEN
            return count if isinstance(count, int) else None
        if name in ("enumerate", "reversed", "list", "tuple", "sorted", "tqdm") and iterable.args:
            return turns(iterable.args[0], values)
        if name == "zip":
            counts = [turns(one, values) for one in iterable.args]
            return None if None in counts else min((one for one in counts if one is not None), default=None)
    if isinstance(iterable, (ast.List, ast.Tuple)):
        return len(iterable.elts) if not any(isinstance(one, ast.Starred) for one in iterable.elts) else None
    length = values.get(f"len({ast.unparse(iterable)})") if isinstance(iterable, _Named) else None
    return length if isinstance(length, int) else None


def read_in(expression: ast.expr, values: Values) -> Iterator[tuple[str, Scalar]]:
    """Yields the names in an expression whose values are known, each once: ("loss", 0.5)."""
    told = set()
    for node in walk(expression):
        text = ast.unparse(node) if isinstance(node, _Named) else ""
        for name in (text, f"len({text})"):
            if text and name in values and name not in told:
                told.add(name)
                yield name, values[name]


_Named = (ast.Name, ast.Attribute, ast.Subscript)


def _value(expression: ast.expr, values: Values, deeper: int) -> Any:
    if not deeper:
        return OPEN

    def of(one: ast.expr) -> Any:
        return _value(one, values, deeper - 1)

    match expression:
        case ast.Constant(value=int() | float() | bool() | None as literal):
            return literal
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return values.get(ast.unparse(expression), OPEN)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = truth(operand, values)
            return OPEN if found is None else not found
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = of(operand)
            return -found if isinstance(found, (int, float)) else OPEN
        case ast.BinOp(left=left, op=op, right=right):
            one, other = of(left), of(right)
            return (
                tried(lambda: one / other)
                if isinstance(op, ast.Div) and OPEN not in (one, other)
                else (applied(op, one, other))
            )
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _compared([left, *others], ops, values, deeper)
        case ast.BoolOp(op=op, values=parts):
            return _either([truth(one, values) for one in parts], isinstance(op, ast.Or))
        case ast.Call(func=ast.Attribute(value=held, attr=asked), args=[], keywords=[]) if asked in _OF_ONE_NUMBER:
            return of(held)
        case ast.Call(func=func, args=args, keywords=[]):
            name = last_name(func)
            if name == "len":
                return values.get(ast.unparse(expression), OPEN)
            given = [of(one) for one in args]
            known = name in _ASKS and given and not any(one is OPEN or one is None for one in given)
            return tried(lambda: _ASKS[name](*given)) if known else OPEN
        case _:
            return OPEN


def _compared(parts: list[ast.expr], ops: list[ast.cmpop], values: Values, deeper: int) -> Any:
    found: Any = True
    for left, op, right in zip(parts, ops, parts[1:], strict=False):
        one, other = (_operand(part, values, deeper) for part in (left, right))
        if type(op) in _IDENTITY and (one is None or other is None):
            each = OPEN if OPEN in (one, other) else _IDENTITY[type(op)](one, other)
        elif _HELD in (one, other):
            each = OPEN
        else:
            each = applied(op, one, other)
        if each is OPEN:
            return OPEN
        found = found and each
    return found


_HELD = object()  # something of which only the length is known: it is not None


def _operand(part: ast.expr, values: Values, deeper: int) -> Any:
    if isinstance(part, _Named) and f"len({ast.unparse(part)})" in values:
        return _HELD
    return _value(part, values, deeper - 1)


def _either(truths: list[bool | None], ending: bool) -> Any:
    if any(one is ending for one in truths):
        return ending
    return OPEN if None in truths else not ending

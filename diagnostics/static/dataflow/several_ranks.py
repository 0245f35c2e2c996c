"""What runs where there are several ranks: a program for one process as well has a way of its own for that. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow import rank_words
from diagnostics.static.program.functions import last_name

_ABOVE = {ast.Gt: 1, ast.GtE: 2, ast.NotEq: 1}  # `world_size > 1`, `>= 2`, `!= 1`
_BELOW = {ast.LtE: 1, ast.Lt: 2, ast.Eq: 1}


def holds_for_several(test: ast.expr) -> bool | None:
    """Returns how a test falls where several ranks run, None where it asks for something else as well."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = holds_for_several(operand)
            return None if found is None else not found
        case ast.BoolOp(op=op, values=values):
            told = [holds_for_several(one) for one in values]
            ending = isinstance(op, ast.Or)
            if ending in told:
                return ending
            return None if None in told else not ending
        case ast.Compare(left=left, ops=[asked], comparators=[ast.Constant(value=number)]):
            if not rank_words.WORLD_SIZE.match(last_name(left)):
                return None
            return True if _ABOVE.get(type(asked)) == number else False if _BELOW.get(type(asked)) == number else None
        case ast.Name() | ast.Attribute() | ast.Call():
            return True if rank_words.DISTRIBUTED.match(last_name(test)) else None
        case _:
            return None


def ways_of_several(value: ast.IfExp) -> tuple[ast.expr, ...]:
    """Returns what a choice may come to where several ranks run: `summed(loss) if world_size > 1 else loss`."""
    told = holds_for_several(value.test)
    return (value.body, value.orelse) if told is None else (value.body if told else value.orelse,)

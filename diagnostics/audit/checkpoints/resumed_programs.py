"""Whether a program goes on from a checkpoint: it restores an optimizer and the number of its epoch or step. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name

COUNTS = re.compile(r"epoch|step|iter", re.IGNORECASE)
OPTIMIZER = re.compile(r"optim|^opt$", re.IGNORECASE)


def goes_on(functions: list[Function]) -> bool:
    """Whether a program restores an optimizer and the number of its epoch or step."""
    return count_restored(functions) is not None


def count_restored(functions: list[Function]) -> tuple[ast.AST, Function] | None:
    """Returns where a program that restores an optimizer restores the number of its epoch or step, too.

    In a function that does both, the last such line; None where one of the two is nowhere restored.
    """
    counts = [(node, one) for one in functions for node in one.nodes_of(ast.Assign) if _is_count(node)]
    loads = {one for one in functions for node in one.nodes_of(ast.Call) if _loads_optimizer(node)}
    beside = [(node, one) for node, one in counts if one in loads]
    if not counts or not loads:
        return None
    return max(beside, key=lambda pair: pair[0].lineno) if beside else counts[0]  # type: ignore[attr-defined]


def _is_count(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant)
        and isinstance(each.slice.value, str) and COUNTS.search(each.slice.value)
        for each in walk(node.value)
    )  # fmt: skip


def _loads_optimizer(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or last_name(node.func) != "load_state_dict":
        return False
    return bool(OPTIMIZER.search(last_name(node.func.value if isinstance(node.func, ast.Attribute) else node.func)))

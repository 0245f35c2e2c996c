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
    loads = counts = False
    for one in functions:
        for node in one.nodes_of((ast.Call, ast.Assign)):
            if isinstance(node, ast.Call) and last_name(node.func) == "load_state_dict":
                base = node.func.value if isinstance(node.func, ast.Attribute) else node.func
                loads = loads or bool(OPTIMIZER.search(last_name(base)))
            elif isinstance(node, ast.Assign):
                counts = counts or any(
                    isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant)
                    and isinstance(each.slice.value, str) and COUNTS.search(each.slice.value)
                    for each in walk(node.value)
                )  # fmt: skip
    return loads and counts

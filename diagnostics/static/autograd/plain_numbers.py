"""Which expressions and parameters are numbers and no tensors, by how they are written. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.functions import Function


def plain_numbers(function: Function) -> set[str]:
    """Returns the parameters that are numbers by their defaults or annotations."""
    arguments = getattr(function.syntax, "args", None)
    if arguments is None:
        return set()
    placed = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip((one.arg for one in reversed(placed)), reversed(arguments.defaults), strict=False))
    defaults |= {
        one.arg: value for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    annotated = {
        one.arg for one in (*placed, *arguments.kwonlyargs)
        if one.annotation is not None and ast.unparse(one.annotation) in ("float", "int", "bool")
    }  # fmt: skip
    return annotated | {
        name for name, value in defaults.items() if isinstance(value, ast.Constant) and value.value is not None
    }


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a whole number, also a negative one."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int) and not isinstance(inner.value, bool)

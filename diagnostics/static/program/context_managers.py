"""Context managers that are written as generators: what stands before their yield, and what behind. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.functions import Function, last_name

_DECORATORS = ("contextmanager", "asynccontextmanager")


def yield_of_context_manager(function: Function) -> int:
    """Returns the line of the yield of a `@contextmanager`, 0 where the function is none."""
    decorators = getattr(function.syntax, "decorator_list", ())
    if not any(last_name(one) in _DECORATORS for one in decorators):
        return 0
    return min((node.lineno for node in function.own_nodes if isinstance(node, ast.Yield)), default=0)

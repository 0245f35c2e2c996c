"""Whether a call runs the first time only: behind `if not hasattr(get_group, "_group")`. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project


def is_made_once(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a test around a call asks for what the call's result is kept as."""
    parents = project.file_with(function).parents
    around, statement = parents.get(call), None
    while around is not None and around is not function.syntax:
        if isinstance(around, ast.Assign):
            statement = around
        elif isinstance(around, ast.If) and statement is not None:
            kept = {last_name(target) for target in statement.targets}
            if kept & _asked(around.test):
                return True
        around = parents.get(around)
    return False


def _asked(test: ast.expr) -> set[str]:
    """Returns the names that a test asks to be there: of `hasattr(x, "name")`, `name is None` and `not name`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(args=[_, ast.Constant(value=str() as name)]) as call):
            return {name} if last_name(call.func) == "hasattr" else set()
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() as kept):
            return {last_name(kept)}
        case ast.Compare(left=ast.Name() | ast.Attribute() as kept, ops=[ast.Is()], comparators=[ast.Constant(None)]):
            return {last_name(kept)}
        case _:
            return set()

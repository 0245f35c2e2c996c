"""Whether autograd records what a statement does: no_grad around it, on its function, or around every call. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

_OFF = frozenset(["no_grad", "inference_mode", "set_grad_enabled", "_no_grad", "disable_grad"])
# Methods that torch itself calls outside of the graph, or that are meant for setting a model up.
_SET_UP = ("__init__", "reset_parameters", "init_weights", "_init_weights", "reset_parameter", "__setstate__")
_SET_UP_STARTS = (
    *("init_", "_init", "load_", "_load", "reset_", "_reset", "initialize", "from_pretrained", "convert_"),
    *("copy_", "merge", "_merge", "unmerge", "fuse", "prune", "quantize", "resize_", "tie_", "_tie"),
)


def grad_enabled(
    node: ast.AST, function: Function, file: ProjectFile, project: Project, rounds: int = 2
) -> bool | None:
    """Whether autograd records a node: False where it does not, None where callers unseen decide."""
    if _is_off_around(node, file) or _is_off_for(function):
        return False
    callers = project.callers(function) if function.name != "<module>" and rounds else []
    answers = [grad_enabled(call, caller, project.file_with(caller), project, rounds - 1) for call, caller in callers]
    if answers and not any(answer is not False for answer in answers):
        return False
    return True if any(answer is not False for answer in answers) else None


def is_off(node: ast.AST, function: Function, file: ProjectFile) -> bool:
    """Whether no_grad stands around a node or on its function."""
    return _is_off_around(node, file) or _is_off_for(function)


def is_set_up(function: Function) -> bool:
    """Whether a function sets a model up or loads it, as its name or that of one around it says."""
    scope: Function | None = function
    while scope is not None:
        name = scope.name.rpartition(".")[2]
        if name in _SET_UP or name.startswith(_SET_UP_STARTS):
            return True
        scope = scope.outer
    return False


def turns_off(value: ast.expr) -> bool:
    """Whether entering or decorating with this stops autograd from recording."""
    if isinstance(value, ast.Call) and last_name(value.func) == "set_grad_enabled":
        return not (value.args and isinstance(value.args[0], ast.Constant) and value.args[0].value)
    return last_name(value) in _OFF


def _is_off_around(node: ast.AST, file: ProjectFile) -> bool:
    outer: ast.AST | None = node
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(outer, (ast.With, ast.AsyncWith)) and any(turns_off(one.context_expr) for one in outer.items):
            return True
        outer = file.parents.get(outer)
    return False


def _is_off_for(function: Function) -> bool:
    scope: Function | None = function
    while scope is not None:
        if any(turns_off(one) or "no_grad" in last_name(one) for one in getattr(scope.syntax, "decorator_list", ())):
            return True
        if isinstance(scope.syntax, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
            any(map(_disables, scope.syntax.body)) or any(map(_enters, scope.own_nodes))
        ):
            return True
        scope = scope.outer
    return False


def _disables(node: ast.AST) -> bool:
    """`torch.set_grad_enabled(False)` as a statement of its own."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Call) and last_name(value.func) == "set_grad_enabled" and turns_off(value)


def _enters(node: ast.AST) -> bool:
    """`stack.enter_context(torch.no_grad())`."""
    return isinstance(node, ast.Call) and last_name(node.func) == "enter_context" and any(map(turns_off, node.args))

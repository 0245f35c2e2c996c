"""Which expressions mean a GPU, and which put something there. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.module_classes import own_attribute

_CUDA = re.compile(r"^(?:cuda|hip|xpu)(?::|$)")


def names_gpu(value: ast.AST | None) -> bool:
    """Whether an expression says a GPU itself: "cuda:0", f"cuda:{rank}", torch.device("cuda", rank)."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str) and bool(_CUDA.match(value.value))
    if isinstance(value, ast.JoinedStr):
        return bool(value.values) and isinstance(value.values[0], ast.Constant) and names_gpu(value.values[0])
    if isinstance(value, ast.Call):
        return last_name(value.func) == "device" and bool(value.args) and names_gpu(value.args[0])
    if isinstance(value, ast.BinOp):
        return names_gpu(value.left)
    return False


def may_be_gpu(value: ast.AST | None) -> bool:
    """Whether an expression may say a GPU: also `"cuda" if torch.cuda.is_available() else "cpu"`."""
    return value is not None and any(names_gpu(node) for node in walk(value))


def gpu_of(value: ast.expr, function: Function, project: Project, rounds: int = 3) -> str:
    """Returns "always", "perhaps" or "" for whether a device expression means a GPU, through names and attributes."""
    if names_gpu(value):
        return "always"
    if may_be_gpu(value):
        return "perhaps"
    values: list[tuple[ast.expr, Function]] = []
    scope: Function | None = function
    while isinstance(value, ast.Name) and scope is not None and not values:
        values = [(one, scope) for one in scope.assigned.get(value.id, ())]
        if value.id in scope.parameters and not values:
            values = list(project.arguments(value.id, scope))[:4]
            break
        scope = scope.outer
    own = own_attribute(value)
    kind = project.class_of(function) if own else None
    if kind is not None:
        values = project.class_attributes(kind, own)
    answers = [gpu_of(one, where, project, rounds - 1) for one, where in values] if rounds else []
    if answers and all(one == "always" for one in answers):
        return "always"
    return "perhaps" if any(answers) else ""


def moved_to(node: ast.AST) -> ast.expr | None:
    """Returns the device that a call moves something to: of x.to(device), x.cuda(), torch.zeros(3, device=d)."""
    if not isinstance(node, ast.Call):
        return None
    words = {one.arg: one.value for one in node.keywords}
    if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and len(node.args) < 2:
        return ast.Constant("cuda")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
        return words.get("device", node.args[0] if node.args else None)
    return words.get("device")


def puts_on_gpu(node: ast.AST) -> bool:
    """Whether a call puts something on a device that its words call a GPU or `device`."""
    target = moved_to(node)
    if target is None:
        return False
    return may_be_gpu(target) or (last_name(target) == "local_rank" or "gpu" in last_name(target))

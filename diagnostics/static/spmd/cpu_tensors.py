"""Whether a tensor surely lies in the memory of the CPU: made there, and moved nowhere. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

_MAKERS = frozenset(
    f"torch.{name}"
    for name in (
        "tensor", "zeros", "ones", "empty", "full", "rand", "randn", "arange", "Tensor", "FloatTensor", "LongTensor",
        "IntTensor", "DoubleTensor", "BoolTensor", "ByteTensor", "as_tensor", "from_numpy", "linspace", "eye",
    )
)  # fmt: skip
_KEEP = frozenset(
    ["float", "double", "half", "long", "int", "bool", "unsqueeze", "squeeze", "clone", "detach", "view", "reshape",
     "contiguous", "flatten", "sum", "mean", "bfloat16"]
)  # fmt: skip
_ROUNDS = 4  # methods that keep a tensor where it is
_COPIES = frozenset(["torch.as_tensor", "torch.tensor"])


def is_on_cpu(value: ast.expr, function: Function, project: Project, rounds: int = _ROUNDS) -> ast.expr | None:
    """Returns where the tensor was made on the CPU, if that holds for all it may be; else None."""
    if rounds <= 0:
        return None  # `x = x.float()`
    found = [(one, _made_on_cpu(one, where, project, rounds)) for one, where in origins(value, function, project)]
    return found[0][0] if found and all(on_cpu for _, on_cpu in found) else None


def _made_on_cpu(value: ast.expr, function: Function, project: Project, rounds: int) -> bool:
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "cpu" and not value.args:
        return True
    name = project.name(value.func, function)
    if name in _MAKERS:
        if any(one.arg in ("device", None) for one in value.keywords):
            return False
        return name not in _COPIES or _is_of_numbers(value, function, project)
    if isinstance(value.func, ast.Attribute) and value.func.attr in _KEEP and not name.startswith("torch."):
        return is_on_cpu(value.func.value, function, project, rounds - 1) is not None
    return False


def _is_of_numbers(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether it is made of numbers: of a tensor, torch.as_tensor keeps the device."""
    return bool(call.args) and (project.name(call.func, function) == "torch.tensor"
                                or isinstance(call.args[0], (ast.List, ast.Tuple, ast.Constant)))  # fmt: skip

"""Whether an expression gives tensors that lie on a GPU, through names, models moved there and the project's functions.

Of a parameter it is what all callers pass, of a call what every return of the function called gives. Pure.

Which expressions mean a GPU, and which put something there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.dataflow.local_ranks import local_rank_origin
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.module_classes import own_attribute

_CUDA = re.compile(r"^(?:cuda|hip|xpu)(?::|$)")

_TO_CPU = frozenset(["cpu", "numpy", "tolist", "item", "state_dict"])
_KEEP = frozenset(
    ["detach", "clone", "mean", "sum", "view", "reshape", "squeeze", "unsqueeze", "float", "half", "flatten", "chunk",
     "contiguous", "transpose", "permute", "bfloat16", "split", "cat", "stack", "eval", "train", "requires_grad_"]
)  # fmt: skip
_TYPES = frozenset(["float16", "bfloat16", "float32", "float64", "half", "float", "int64", "long", "uint8"])
_MOST_CALLS = 4
_GPU_ROUNDS = 3


def is_on_gpu(value: ast.expr, function: Function, project: Project, rounds: int = 12) -> str:
    """Returns "always", "perhaps" (the device is chosen at run time) or "" for whether tensors in it lie on a GPU."""
    if rounds < 0:
        return ""
    if isinstance(value, ast.Dict):
        return _most([is_on_gpu(one, function, project, rounds) for one in value.values])
    if isinstance(value, (ast.List, ast.Tuple)):
        return _most([is_on_gpu(one, function, project, rounds) for one in value.elts])
    if isinstance(value, ast.Subscript):
        return is_on_gpu(value.value, function, project, rounds)
    if isinstance(value, ast.Call):
        return _of_call(value, function, project, rounds)
    if isinstance(value, ast.Name):
        return _of_name(value.id, function, project, rounds)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return is_on_gpu(value.elt, function, project, rounds - 1)
    if isinstance(value, ast.Attribute):
        return _of_attribute(value, function, project, rounds)
    return ""


def _of_attribute(value: ast.Attribute, function: Function, project: Project, rounds: int) -> str:
    """What an object keeps, also what is put into it: `self.cache[index] = image.cuda()`."""
    kept = [one for one in project.attribute_values(value, function) if not _empty(one[0])]
    answers = [is_on_gpu(one, where, project, rounds - 3) for one, where in kept]
    kind = project.class_of(function) if own_attribute(value) else None
    for method in (one for one in project.functions_in(function.source) if kind is not None):
        if project.class_of(method) is kind:
            answers += [is_on_gpu(one, method, project, rounds - 3) for one in _put_into(value.attr, method)]
    return _least(answers)


def _put_into(attribute: str, method: Function) -> Iterator[ast.expr]:
    for node in method.nodes_of((ast.Assign, ast.Call)):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(one, ast.Subscript) and own_attribute(one.value) == attribute for one in targets):
            yield node.value  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            yield from node.args[:1] if own_attribute(node.func.value) == attribute else ()


def _of_call(value: ast.Call, function: Function, project: Project, rounds: int) -> str:
    device = moved_to(value)
    if _is_type(device) and isinstance(value.func, ast.Attribute):
        return is_on_gpu(value.func.value, function, project, rounds - 1)
    if device is not None:
        return gpu_of(device, function, project)
    if project.name(value.func, function) == "torch.load":
        place = next((one.value for one in value.keywords if one.arg == "map_location"), None)
        return gpu_of(place, function, project) if place is not None else ""
    if isinstance(value.func, ast.Attribute):
        if value.func.attr in _TO_CPU:
            return ""
        if value.func.attr in _KEEP and project.name(value.func, function).startswith("torch.") and value.args:
            return is_on_gpu(value.args[0], function, project, rounds - 1)
        if value.func.attr in _KEEP or value.func.attr.startswith(("encode", "forward")):
            return is_on_gpu(value.func.value, function, project, rounds - 1)
    if isinstance(value.func, ast.Name) and (
        value.func.id in function.assigned or value.func.id in function.parameters
    ):
        moved = _of_name(value.func.id, function, project, rounds - 1)  # a model that was moved
        given = [is_on_gpu(one, function, project, rounds - 2) for one in value.args]
        plain = bool(project.targets(value, function))
        return moved or ("" if plain else _most(given))  # what a model makes of a tensor lies where that lies
    return _of_returned(value, function, project, rounds)


class _Answers(dict[tuple[int, str], tuple[int, str]]):
    """What was found of a name, and with how many rounds left: `state = {**state, ...}` asks for itself many times."""

    def __init__(self, project: Project) -> None:
        super().__init__()


def _of_name(name: str, function: Function, project: Project, rounds: int) -> str:
    known, key = project.fact(_Answers), (id(function), name)
    if key not in known or known[key][0] < rounds:
        known[key] = (rounds, "")  # while it is being looked at
        known[key] = (rounds, _by_assignments(name, function, project, rounds))
    return known[key][1]


def _by_assignments(name: str, function: Function, project: Project, rounds: int) -> str:
    moves = [gpu_of(device, function, project) for device in _moves(name, function)]
    if moves:
        return _least(moves)
    values = [one for one in function.assigned.get(name, []) if not _empty(one)]
    if not values and name in function.parameters:
        return _of_parameter(name, function, project, rounds)
    return _least([is_on_gpu(one, function, project, rounds - 1) for one in [*values, *_appended(name, function)]])


def _of_parameter(name: str, function: Function, project: Project, rounds: int) -> str:
    """What holds of a plain function's parameter in all calls; "" where none is known, or too many to follow."""
    calls = project.callers(function) if rounds >= 0 else []
    passed = list(project.arguments(name, function)) if 0 < len(calls) <= _MOST_CALLS else []
    if len(passed) != len(calls):
        return ""  # a default holds somewhere
    return _least([is_on_gpu(value, where, project, rounds - 2) for value, where in passed])


def _of_returned(value: ast.Call, function: Function, project: Project, rounds: int) -> str:
    """What holds of everything that one function of the project gives back."""
    targets = project.targets(value, function) if rounds > 0 else ()
    if len(targets) != 1 or targets[0].name.endswith("__init__"):
        return ""
    nodes = [node for node in targets[0].own_nodes if isinstance(node, ast.Return) and node.value is not None]
    return _least([is_on_gpu(node.value, targets[0], project, rounds - 2) for node in nodes if node.value is not None])


def _is_type(value: ast.expr | None) -> bool:
    """Whether what a tensor is moved `.to` is a type of numbers: torch.float16, dtype."""
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return "dtype" in name or name in _TYPES


def _moves(name: str, function: Function) -> Iterator[ast.expr]:
    """Yields the devices of `model.cuda()` as a statement of its own: only modules are moved in place."""
    for node in function.own_nodes:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda"):
            device = moved_to(call)
            if device is not None and isinstance(call.func.value, ast.Name) and call.func.value.id == name:
                yield device


def _appended(name: str, function: Function) -> Iterator[ast.expr]:
    for node in function.nodes_of(ast.Call):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            yield from node.args[:1] if ast.unparse(node.func.value) == name else ()


def _least(answers: list[str]) -> str:
    """What holds of a name that is assigned all of these; "" where one of them is not known to lie on a GPU."""
    if not answers or not all(answers):
        return ""
    return "always" if all(one == "always" for one in answers) else "perhaps"


def _empty(value: ast.expr) -> bool:
    return isinstance(value, (ast.List, ast.Dict)) and not getattr(value, "elts", getattr(value, "keys", None))


def _most(answers: list[str]) -> str:
    return "always" if "always" in answers else "perhaps" if "perhaps" in answers else ""


def denotes_gpu(value: ast.AST | None) -> bool:
    """Whether an expression says a GPU itself: "cuda:0", f"cuda:{rank}", torch.device("cuda", rank)."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str) and bool(_CUDA.match(value.value))
    if isinstance(value, ast.JoinedStr):
        return bool(value.values) and isinstance(value.values[0], ast.Constant) and denotes_gpu(value.values[0])
    if isinstance(value, ast.Call):
        return last_name(value.func) == "device" and bool(value.args) and denotes_gpu(value.args[0])
    if isinstance(value, ast.BinOp):
        return denotes_gpu(value.left)
    return False


def may_be_gpu(value: ast.AST | None) -> bool:
    """Whether an expression may say a GPU: also `"cuda" if torch.cuda.is_available() else "cpu"`."""
    return value is not None and any(denotes_gpu(node) for node in walk(value))


def gpu_of(value: ast.expr, function: Function, project: Project, rounds: int = _GPU_ROUNDS) -> str:
    """Returns "always", "perhaps" or "" for whether a device expression means a GPU, through names and attributes."""
    if denotes_gpu(value):
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
    if isinstance(value, ast.Name) and not values:
        values = project.imported_values(value.id, function)
    if isinstance(value, ast.Attribute):
        values = project.attribute_values(value, function)
        for getter in project.getters(value, function):
            given = (node.value for node in getter.nodes_of(ast.Return) if isinstance(node, ast.Return))
            values += [(one, getter) for one in given if one is not None]
    answers = [gpu_of(one, where, project, rounds - 1) for one, where in values] if rounds else []
    if answers and all(one == "always" for one in answers):
        return "always"
    if not any(answers) and rounds == _GPU_ROUNDS and local_rank_origin(value, function, project) is not None:
        return "always"  # the rank on a machine is the number of its GPU
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

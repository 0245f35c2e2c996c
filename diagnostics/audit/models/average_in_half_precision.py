"""The moving average of the weights is kept in half precision.

What it does: flags a class or function that averages weights into `copy.deepcopy(model)`, where it is given a model
that was cast to bfloat16 or float16 and neither makes the copy float32.

Why it matters: one step of the average adds (1 - decay) times a difference: a ten-thousandth of the weight, which
bfloat16, with three digits, rounds to nothing. The average stops following the model; what is evaluated and shipped
are weights of the beginning.

Bad:

    model = Net().to(device, torch.bfloat16)
    ema = copy.deepcopy(model)

Good:

    ema = copy.deepcopy(model).float()

What it cannot see: casts in libraries and in configuration files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import argument
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A326"
NAME = "average-in-half-precision"
SEVERITY = Severity.WARNING
RUN_CLASS = "state-not-kept"
WORDS = ("deepcopy",)
CHECKLIST = "moving averages of weights are float32"
_AVERAGE = re.compile(r"ema|averag|shadow|moving", re.IGNORECASE)
_HALF = {"torch.bfloat16", "torch.float16", "torch.half"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the averages that round."""
    for call, function in () if file.is_test else project.calls_in(file):
        if project.name(call.func, function) != "copy.deepcopy" or len(call.args) != 1:
            continue
        if not _is_average(call, file) or not _is_plain(call, file) or not _averages(function, project):
            continue
        for value, where in _models(call.args[0], function, project):
            cast = _cast(value, where, project)
            if cast is not None:
                yield violation(
                    file,
                    call,
                    "the average is a copy of a model in half precision: what a step adds to it, (1 - decay) times a "
                    "weight, rounds to nothing, and it stops following the model",
                    "copy.deepcopy(model).float()",
                    steps=(step(project.file_with(where), cast, "the model is cast here"),),
                    confidence=Confidence.LIKELY,
                )
                break


def _is_average(call: ast.Call, file: ProjectFile) -> bool:
    outer = file.parents.get(call)
    while outer is not None and not isinstance(outer, (ast.Assign, ast.stmt)):
        outer = file.parents.get(outer)
    return isinstance(outer, ast.Assign) and bool(_AVERAGE.search(ast.unparse(outer.targets[0])))


def _is_plain(call: ast.Call, file: ProjectFile) -> bool:
    """Whether a copy is neither given another precision in its line nor in its file."""
    outer: ast.AST | None = call
    while outer is not None and not isinstance(outer, ast.stmt):
        if isinstance(outer, ast.Attribute) and outer.attr in ("float", "double", "to", "type"):
            return False
        outer = file.parents.get(outer)
    kept = {"float32", "double"} & file.words
    floats = any(isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "float"
                 and _AVERAGE.search(ast.unparse(node.func.value))
                 for node in (walk(file.tree) if file.tree is not None else ()))  # fmt: skip
    return not floats and ("float32" not in kept or "bfloat16" in file.words)


def _averages(function: Function, project: Project) -> bool:
    """Whether the class around, or the function's file, averages: `mul_(decay).add_(weight, alpha=1 - decay)`."""
    kind = project.class_of(function)
    scopes = [one for one in project.functions if (project.class_of(one) is kind if kind is not None
                                                   else one.file == function.file)]  # fmt: skip
    for one in scopes:
        for call in one.nodes_of(ast.Call):
            if not isinstance(call, ast.Call) or last_name(call.func) not in ("add_", "lerp_", "copy_", "sub_"):
                continue
            if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Constant)
                   and node.left.value in (1, 1.0) for node in walk(call)):  # fmt: skip
                return True
    return False


def _models(value: ast.expr, function: Function, project: Project) -> Iterator[tuple[ast.expr, Function]]:
    """Yields what is copied, as callers name it."""
    yield value, function
    if isinstance(value, ast.Name) and value.id in function.parameters and value.id not in function.assigned:
        for call, caller in project.callers(function)[:6]:
            given = argument(call, value.id, function.parameters[function.implied :])
            if given is not None:
                yield given, caller


def _cast(value: ast.expr, function: Function, project: Project) -> ast.AST | None:
    """Returns where a model was cast to half precision, the last of its casts."""
    name = ast.unparse(value)
    made = list(function.assigned.get(name, ())) if isinstance(value, ast.Name) else []
    called = [node for one in made for node in walk(one) if isinstance(node, ast.Call)]
    called += [node for node in function.nodes_of(ast.Call) if isinstance(node, ast.Call)
               and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == name]  # fmt: skip
    casts = [(one, half) for one in sorted(called, key=lambda each: each.lineno)
             if one.lineno <= value.lineno and (half := _precision(one, function, project)) is not None]  # fmt: skip
    return casts[-1][0] if casts and casts[-1][1] else None


def _precision(call: ast.Call, function: Function, project: Project) -> bool | None:
    """Whether a call casts to half precision; None where it casts nothing."""
    last = last_name(call.func)
    if last in ("half", "bfloat16") and not call.args:
        return True
    if last == "float" and not call.args:
        return False
    if last not in ("to", "from_pretrained"):
        return None
    for given in [*call.args, *(one.value for one in call.keywords if one.arg in ("dtype", "torch_dtype"))]:
        for one, where in origins(given, function, project):
            named = project.name(_chosen(one, where, project), where)
            if named in _HALF:
                return True
            if named in ("torch.float32", "torch.float"):
                return False
    return None


def _chosen(value: ast.expr, function: Function, project: Project) -> ast.expr:
    """Returns what `DTYPES[args.dtype]` is by the option's default; the value itself where it is no such choice."""
    if not (isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Attribute)):
        return value
    option = value.slice.attr
    defaults = [_default(call) for call in function.nodes_of(ast.Call) if isinstance(call, ast.Call)
                and last_name(call.func) == "add_argument" and call.args
                and ast.unparse(call.args[0]).strip("'\"-").replace("-", "_") == option]  # fmt: skip
    for table, _ in origins(value.value, function, project) if defaults else ():
        for key, each in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
            if isinstance(key, ast.Constant) and key.value == defaults[0]:
                return each
    return value


def _default(call: ast.Call) -> object:
    given = next((one.value for one in call.keywords if one.arg == "default"), None)
    return given.value if isinstance(given, ast.Constant) else None

"""A binary cross entropy of probabilities is taken inside of autocast, which refuses it.

What it does: flags `binary_cross_entropy` and losses that are a `BCELoss`, where they or the calls that lead to them
stand under `autocast` on a GPU, as `with` or as decorator.

Why it matters: log(p) of a probability in half precision overflows, so autocast forbids the operation, with bfloat16
and for float32 tensors, too: "binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast". The run ends in its
first step with mixed precision.

Bad:

    with torch.autocast("cuda"):
        loss = F.binary_cross_entropy(torch.sigmoid(logits), target)

Good:

    with torch.autocast("cuda"):
        loss = F.binary_cross_entropy_with_logits(logits, target)

What it cannot see: autocast that a library enters. On a CPU autocast takes it in float32, and nothing is said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A336"
NAME = "entropy-inside-autocast"
SEVERITY = Severity.ERROR
WORDS = ("binary_cross_entropy", "BCELoss")
CHECKLIST = "cross entropies under autocast are taken of logits"
_FUNCTION = "torch.nn.functional.binary_cross_entropy"
_LOSS = ("torch.nn.BCELoss", "torch.nn.modules.loss.BCELoss")
_AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.amp.autocast_mode.autocast",
             "torch.cuda.amp.autocast_mode.autocast")  # fmt: skip
_PRECISION = re.compile(r"amp(?:\b|_)|autocast|half|fp16|bf16|precision|scaler|logits", re.IGNORECASE)
_DEPTH = 4
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the losses that autocast refuses."""
    for function in () if file.is_test else project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            if not isinstance(call, ast.Call) or not _is_of_probabilities(call, function, project):
                continue
            found = _autocast(call, function, project, _DEPTH)
            if found is not None:
                yield violation(
                    file,
                    call,
                    "this binary cross entropy of probabilities is taken inside of autocast, which refuses it: the "
                    "first step ends with 'unsafe to autocast'",
                    "binary_cross_entropy_with_logits (BCEWithLogitsLoss) of what comes before the sigmoid; or "
                    "the loss of float32 under autocast(enabled=False)",
                    steps=(step(project.file_with(found[1]), found[0], "autocast begins here"),),
                    confidence=Confidence.LIKELY,
                )


def _is_of_probabilities(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call takes the entropy of probabilities on the device."""
    if any(isinstance(one, ast.Call) and last_name(one.func) == "cpu" for one in call.args[:1]):
        return False
    if project.name(call.func, function) == _FUNCTION:
        return True
    if project.name(call.func, function).startswith("torch.") or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    made = origins(call.func, function, project)
    return bool(made) and all(
        isinstance(one, ast.Call) and project.name(one.func, where) in _LOSS for one, where in made
    )


def _autocast(node: ast.AST, function: Function, project: Project, depth: int) -> Origin | None:
    """Returns the autocast that is on at a node, in its function or around the calls that lead there."""
    file = project.file_with(function)
    if any(_PRECISION.search(ast.unparse(one)) for one in conditions(node, function, file)):
        return None  # one way with autocast, and another one without
    inner, outer = node, file.parents.get(node)
    while outer is not None and inner is not function.syntax:
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test and "logits" in _other_arm(outer, inner):
            return None
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            for item in reversed(outer.items):
                told = _turns(item.context_expr, function, project)
                if told is not None:
                    return (item.context_expr, function) if told else None
        inner, outer = outer, file.parents.get(outer)
    for decorator in getattr(function.syntax, "decorator_list", ()):
        told = _turns(decorator, function, project)
        if told is not None:
            return (decorator, function) if told else None
        if last_name(decorator) == "custom_fwd":
            return None
    if depth and function.name != "<module>":
        for call, caller in project.callers(function):
            if caller is not function and not project.is_guess(call, caller):
                found = _autocast(call, caller, project, depth - 1)
                if found is not None:
                    return found
    return None


def _other_arm(branch: ast.If | ast.IfExp, inside: ast.AST) -> str:
    """Returns the text of the arm of a branch that a node is not in."""
    if isinstance(branch, ast.IfExp):
        return ast.unparse(branch.orelse if inside is branch.body else branch.body)
    arm = branch.orelse if any(one is inside for one in branch.body) else branch.body
    return "\n".join(ast.unparse(one) for one in arm)


def _turns(context: ast.expr, function: Function, project: Project) -> bool | None:
    """Whether a context turns autocast on for a GPU, None where it says nothing about that."""
    on = None
    for one, where in origins(context, function, project):
        call = one if isinstance(one, ast.Call) else None
        name = project.name(call.func if call is not None else one, where)
        if name not in _AUTOCAST:
            continue
        of_cuda = name.startswith("torch.cuda.")  # which is not told the device
        device = None if of_cuda else _given(call, "device_type", 0)
        if isinstance(device, ast.Constant) and isinstance(device.value, str) and device.value.startswith("cpu"):
            continue
        enabled = _given(call, "enabled", 0 if of_cuda else 2)
        values = origins(enabled, where, project) if enabled is not None else ()
        off = bool(values) and all(isinstance(each, ast.Constant) and not each.value for each, _ in values)
        on = on or not off
    return on


def _given(call: ast.Call | None, name: str, place: int) -> ast.expr | None:
    if call is None:
        return None
    named = next((one.value for one in call.keywords if one.arg == name), None)
    return call.args[place] if named is None and len(call.args) > place else named

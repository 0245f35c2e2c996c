"""A thread writes the model's own tensors to a file while the training goes on changing them.

What it does: flags `state_dict()` of a model or an optimizer that is handed, without a copy, to a thread that saves it,
itself or through a queue, in a loop that trains and does not wait for the thread. `copy.copy()`, `dict()` and
`.copy()` copy the mapping, and not the tensors in it.

Why it matters: `state_dict()` gives the tensors themselves. Optimizers change them in place: the file holds some layers
of one step and others of the next, moments that do not belong to the weights, and loads without any complaint.

Bad:

    pool.submit(torch.save, {"model": model.state_dict()}, path)

Good:

    state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    pool.submit(torch.save, state, path)

What it cannot see: copies in functions of other packages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A427"
NAME = "live-state-in-thread"
SEVERITY = Severity.WARNING
RUN_CLASS = "corrupt-checkpoint"
WORDS = ("Thread", "submit", "put", "put_nowait")
CHECKLIST = "what a thread saves is a copy"
_SAVES = {"torch.save", "safetensors.torch.save_file"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the threads that save what changes."""
    for call, function in () if file.is_test else project.calls_in(file):
        given = _handed(call, function, project)
        if given is None or not _is_in_training(call, function, project, 3) or _is_waited_for(call, function, file):
            continue
        live = next((found for one in given if (found := _live(one, function, project, 3)) is not None), None)
        if live is None:
            continue
        yield violation(
            file,
            call,
            "the thread saves the tensors themselves, and the training goes on changing them in place: the file mixes "
            "several steps",
            "copy before the thread starts: {name: tensor.detach().clone() for name, tensor in state.items()}",
            steps=(step(project.file_with(live[1]), live[0], "state_dict() holds the tensors, and no copies"),),
            confidence=Confidence.LIKELY,
        )


def _handed(call: ast.Call, function: Function, project: Project) -> list[ast.expr] | None:
    """Returns what a call hands to a thread that saves, None of other calls."""
    named = {one.arg: one.value for one in call.keywords}
    if project.name(call.func, function) == "threading.Thread":
        runs, args = named.get("target"), named.get("args")
        given = list(args.elts) if isinstance(args, ast.Tuple) else []
        held = named.get("kwargs")
        given += held.values if isinstance(held, ast.Dict) else []
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "submit" and call.args:
        runs, given = call.args[0], [*call.args[1:], *named.values()]
        if (
            "process" in ast.unparse(call.func.value).lower()
            or "ProcessPoolExecutor" in project.file_with(function).words
        ):
            return None
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("put", "put_nowait") and call.args:
        items = call.args[0].elts if isinstance(call.args[0], (ast.Tuple, ast.List)) else [call.args[0]]
        return list(items) if _is_saved_behind(call.func.value, function, project) else None
    else:
        return None
    return given if runs is not None and given and _saves(runs, function, project) else None


def _is_saved_behind(queue: ast.expr, function: Function, project: Project) -> bool:
    """Whether a thread of the same file saves what it gets out of a queue of this name."""
    for started, where in project.calls_in(project.file_with(function)):
        runs = next((one.value for one in started.keywords if one.arg == "target"), None)
        if runs is None or project.name(started.func, where) != "threading.Thread":
            continue
        for one in project.meant(runs, where):
            calls = [node for node in one.nodes_of(ast.Call) if isinstance(node, ast.Call)]
            takes = any(isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "get_nowait")
                        and last_name(node.func.value) == last_name(queue) for node in calls)  # fmt: skip
            if takes and any(project.name(node.func, one) in _SAVES for node in calls):
                return True
    return False


def _saves(runs: ast.expr, function: Function, project: Project) -> bool:
    """Whether what a thread runs writes what it is given to a file, without copying it first."""
    if project.name(runs, function) in _SAVES:
        return True
    for one in project.meant(runs, function):
        calls = [node for node in one.nodes_of(ast.Call) if isinstance(node, ast.Call)]
        if any(project.name(node.func, one) in _SAVES for node in calls):
            return True
    return False


def _live(value: ast.expr, function: Function, project: Project, depth: int) -> Origin | None:
    """Returns the state_dict() that a value holds as it is."""
    if _is_copied(value, function, project):
        return None
    for one, where in origins(value, function, project):
        parts: list[ast.expr] = []
        if isinstance(one, (ast.Dict, ast.List, ast.Tuple)):
            parts = one.values if isinstance(one, ast.Dict) else one.elts
        elif isinstance(one, ast.Call) and project.name(one.func, where) in ("copy.copy", "dict"):
            parts = [*one.args[:1], *(each.value for each in one.keywords)]
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "copy":
            parts = [one.func.value]
        if depth:
            for each in parts:
                if (found := _live(each, where, project, depth - 1)) is not None:
                    return found
        if isinstance(one, ast.Call) and last_name(one.func) == "state_dict" and not one.args:
            return one, where
    return None


def _is_copied(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a function of the project's own gives a value, and copies tensors."""
    made = function.assigned.get(value.id, []) if isinstance(value, ast.Name) else [value]
    return any(
        re.search(r"\.clone\(|deepcopy\(|\.cpu\(|\.to\(|\.numpy\(|empty_like\(", ast.unparse(one.syntax)) is not None
        for each in made
        if isinstance(each, ast.Call)
        for one in project.targets(each, function)
    )


def _is_in_training(call: ast.Call, function: Function, project: Project, depth: int) -> bool:
    """Whether a call is made again and again between the steps of a training."""
    loop = innermost_loop(call, function, project.file_with(function))
    if loop is not None and project.fact(TrainingFunctions).training_call(loop.body, function) is not None:
        return True
    return bool(depth) and function.name != "<module>" and any(
        _is_in_training(one, where, project, depth - 1) for one, where in project.callers(function)[:6]
    )  # fmt: skip


def _is_waited_for(call: ast.Call, function: Function, file: ProjectFile) -> bool:
    """Whether the function itself waits for what it has started."""
    outer = file.parents.get(call)
    if isinstance(outer, ast.Attribute) and outer.attr in ("result", "join"):
        return True
    name = ast.unparse(outer.targets[0]) if isinstance(outer, ast.Assign) else ""
    if isinstance(call.func, ast.Attribute) and call.func.attr.startswith("put"):
        name = ast.unparse(call.func.value)
    behind = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and one.lineno > call.lineno]
    return bool(name) and any(
        isinstance(one.func, ast.Attribute) and one.func.attr in ("result", "join")
        and ast.unparse(one.func.value) == name for one in behind
    )  # fmt: skip

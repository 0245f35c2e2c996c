"""A schedule that steps with each batch goes on at the number of an epoch.

What it does: flags `last_epoch=` of a schedule that is given an epoch, where the schedule's step() stands in the loop
over the batches.

Why it matters: `last_epoch` counts calls of step(), whatever they stand for. A run that goes on behind epoch 3 of 1000
steps each begins at step 3: the warm-up comes again, and the learning rate is that of a beginning for the rest.

Bad:

    scheduler = LambdaLR(optimizer, factor, last_epoch=start_epoch - 1)
    for batch in loader:
        ...
        scheduler.step()

Good:

    scheduler = LambdaLR(optimizer, factor, last_epoch=global_step - 1)

What it cannot see: names that say epoch and hold a number of steps.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import is_step, own_calls
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A426"
NAME = "schedule-resumed-by-epoch"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "wrong-schedule", "resumed"
WORDS = ("last_epoch",)
CHECKLIST = "a schedule goes on at the number of its own steps"
_STEPS = re.compile(r"step|iter|batch|update|len", re.IGNORECASE)
_SCHEDULES = re.compile(r"^torch\.optim\.lr_scheduler\.|schedule", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the schedules that go on at the wrong place."""
    for call, function in () if file.is_test else project.calls_in(file):
        given = next((one.value for one in call.keywords if one.arg == "last_epoch"), None)
        if given is None or not _is_epoch(given) or not _is_schedule(call, function, project):
            continue
        target = file.parents.get(call)
        name = ast.unparse(target.targets[0]) if isinstance(target, ast.Assign) else ""
        stepped = _stepped(name, function, project) if name else None
        if stepped is None:
            continue
        yield violation(
            file,
            given,
            f"last_epoch counts calls of step(), one for each batch here, and is given an epoch: a run that goes on "
            f"begins at step '{ast.unparse(given)}' of the schedule, in its warm-up",
            "last_epoch=global_step - 1, or the schedule's state_dict in the checkpoint",
            steps=(step(project.file_with(stepped[1]), stepped[0], "the schedule steps with each batch"),),
            confidence=Confidence.LIKELY,
        )


def _is_epoch(value: ast.expr) -> bool:
    """Whether a value is the number of an epoch, one more or less."""
    if (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, (ast.Add, ast.Sub))
        and isinstance(value.right, ast.Constant)
    ):
        value = value.left
    named = last_name(value) if isinstance(value, (ast.Name, ast.Attribute)) else ""
    return "epoch" in named.lower() and named != "last_epoch" and not _STEPS.search(named)


def _is_schedule(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call makes a schedule of torch, itself or in a function that hands `last_epoch` on."""
    name = project.name(call.func, function)
    if name.startswith("torch.optim.lr_scheduler.") or (name.startswith("transformers.") and "schedule" in name):
        return True
    for one in project.targets(call, function):
        for inner in one.nodes_of(ast.Call):
            if isinstance(inner, ast.Call) and _SCHEDULES.search(project.name(inner.func, one)):
                values = [*inner.args, *(each.value for each in inner.keywords)]
                if any(isinstance(each, ast.Name) and each.id == "last_epoch" for each in values):
                    return True
    return False


def _stepped(name: str, function: Function, project: Project) -> tuple[ast.Call, Function] | None:
    """Returns where a schedule steps in a loop over batches; None where its state is loaded, too."""
    own = name.startswith("self.")
    kind = project.class_of(function)
    scopes = (
        [one for one in project.functions if project.class_of(one) is kind] if own and kind is not None else [function]
    )
    found = None
    for one in scopes:
        for call in one.nodes_of(ast.Call):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if ast.unparse(call.func.value) != name:
                continue
            if call.func.attr == "load_state_dict":
                return None
            if call.func.attr == "step" and found is None:
                found = (call, one) if _is_in_batches(call, one, project) else None
    return found


def _is_in_batches(call: ast.Call, function: Function, project: Project) -> bool:
    loop = innermost_loop(call, function, project.file_with(function))
    if not isinstance(loop, ast.For) or "epoch" in ast.unparse(loop.target).lower():
        return False
    ranges = isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range" and not any(
        isinstance(node, (ast.Name, ast.Attribute)) and _STEPS.search(last_name(node)) for node in walk(loop.iter)
    )  # fmt: skip
    return not ranges and any(is_step(one) for one in own_calls(loop.body))

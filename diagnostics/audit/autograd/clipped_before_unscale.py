"""Gradients are clipped while they are still multiplied by the scaler's factor.

What it does: flags `clip_grad_norm_` and `clip_grad_value_` in programs whose backward runs on a scaled loss and that
never call `scaler.unscale_(optimizer)`.

Why it matters: the scale is 65536 at first: every gradient is longer than the limit and is cut to a hundred-thousandth
of what it should be, without an error. The loss goes down, slowly; the learning rate means nothing.

Bad:

    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)

Good:

    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)

What it cannot see: a scaler that is made with enabled=False.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.scaled_gradients import clipped_while_scaled
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import managed

CODE = "A312"
NAME = "clipped-before-unscale"
SEVERITY = Severity.WARNING
_CLIPS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_")
WORDS = ("clip_grad_norm_", "clip_grad_value_")
CHECKLIST = "gradients are unscaled before they are clipped"
_SCALERS = ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.amp.grad_scaler.GradScaler",
            "torch.cuda.amp.grad_scaler.GradScaler")  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the clips of scaled gradients."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for clip, scaler, backward in clipped_while_scaled(execution):
        yield _hit(home(clip, project), clip.node, shown(scaler, project, "the scaler"),
                   shown(backward, project, "backward of the scaled loss"))  # fmt: skip


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    closures = project.fact(ImportClosures)
    if file.is_test or "unscale_" in closures.words(file.shown) or managed(file, project):
        return
    made = [one for one in closures.calls(file.shown, *_SCALERS) if _scales(one[0], one[1], project)]
    scaled = next(_scaled_backwards(file, project), None) if made else None
    for call, function in project.calls_in(file) if scaled is not None else ():
        if scaled is not None and project.name(call.func, function) in _CLIPS:
            if function is scaled[1] and _in_other_arm(call, scaled[0], file):
                continue  # `if use_amp: ... else: ...`
            if _has_plain_backward(function):
                continue  # the scaler is another class's, or another script's, of the same program
            yield _hit(file, call, step(project.file_with(made[0][1]), made[0][0], "the scaler"),
                       step(project.file_with(scaled[1]), scaled[0], "backward of the scaled loss"))  # fmt: skip


def _has_plain_backward(function: Function) -> bool:
    """Whether a function runs the backward itself, and never on a scaled loss."""
    passes = [one.func.value for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)
              and isinstance(one.func, ast.Attribute) and one.func.attr == "backward"]  # fmt: skip
    losses = [made for one in passes for made in
              (function.assigned.get(one.id, [one]) if isinstance(one, ast.Name) else [one])]  # fmt: skip
    return bool(passes) and not any(isinstance(one, ast.Call) and last_name(one.func) == "scale" for one in losses)


def _in_other_arm(one: ast.AST, other: ast.AST, file: ProjectFile) -> bool:
    """Whether two calls stand in the two arms of one test."""
    arms: dict[ast.AST, ast.AST] = {}
    for each, known in ((other, False), (one, True)):
        child, around = each, file.parents.get(each)
        while around is not None:
            if isinstance(around, ast.If):
                arm = around.body if child in around.body else around.orelse if child in around.orelse else []
                if known and around in arms and arm and arms[around] not in arm:
                    return True
                if not known and arm:
                    arms[around] = child
            child, around = around, file.parents.get(around)
    return False


def _hit(file: ProjectFile, clip: ast.AST, *steps: ExplanationStep) -> Violation:
    return violation(
        file,
        clip,
        "the gradients are clipped while they are still multiplied by the scaler's factor, 65536 at first: "
        "nearly nothing is left of them",
        "call scaler.unscale_(optimizer) before",
        steps=steps,
        confidence=Confidence.LIKELY,
    )


def _scales(scaler: ast.Call, function: Function, project: Project) -> bool:
    """Whether a scaler multiplies: one that an option turns on does where the option's default says so."""
    said = {one.arg: one.value for one in scaler.keywords}
    if None in said or "init_scale" in said:
        return False
    enabled = said.get("enabled")
    if isinstance(enabled, ast.Name):
        values = function.assigned.get(enabled.id) or [one for one, _ in project.arguments(enabled.id, function)]
    elif isinstance(enabled, ast.Attribute):
        values = [one for one, _ in project.attribute_values(enabled, function)]
    else:
        values = [enabled] if enabled is not None else [ast.Constant(True)]
    return bool(values) and all(isinstance(one, ast.Constant) and one.value is True for one in values)


def _scaled_backwards(file: ProjectFile, project: Project) -> Iterator[tuple[ast.Call, Function]]:
    """Yields `scaler.scale(loss).backward()` in the programs that a file takes part in."""
    around = project.fact(ImportClosures).around(file.shown)
    for call, function in project.calls_by_name.get("backward", ()):
        value = call.func.value if isinstance(call.func, ast.Attribute) else None
        if function.file in around and isinstance(value, ast.Call) and last_name(value.func) == "scale":
            yield call, function

"""A step is given up between scaler.unscale_() and scaler.update().

What it does: runs each script on values that are not known, and flags a test after `scaler.unscale_(optimizer)` one way
of which ends the step without `scaler.update()`: a return or continue where the norm is too large, or an update that
stands under the test; also one with every k-th batch, where every batch is unscaled.

Why it matters: the scaler remembers until update() that it took its factor out. The next step's unscale_() raises
"unscale_() has already been called on this optimizer since the last update()"; and a factor that is too large stays.

Bad:

    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), 1.0)
    if norm > 100:
        optimizer.zero_grad()
        continue
    scaler.step(optimizer)
    scaler.update()

Good:

    if norm > 100:
        optimizer.zero_grad()
        scaler.update()
        continue

What it cannot see: a scaler that another library makes.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.scaler_updates import is_by_count, left_without_update
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A319"
NAME = "step-left-without-update"
SEVERITY = Severity.WARNING
WORDS = ("unscale_",)
CHECKLIST = "a scaler is updated also where a step is given up"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the ways out of a step that leave the scaler as it is."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for unscaled, guard, leap, updated in left_without_update(execution):
        if is_by_count(guard):
            yield violation(
                home(unscaled, project),
                unscaled.node,
                "the scaler takes its factor out with every batch, and update() comes with every k-th: the second "
                "unscale_() raises that it has already been called",
                "unscale_() and clip under the test that the optimizer's step is under",
                steps=(
                    step(project.file_with(guard.function), guard.node, "lets every k-th batch through"),
                    shown(updated, project, "update() comes there only"),
                ),
                confidence=Confidence.LIKELY,
            )
            continue
        told = step(project.file_with(guard.function), guard.node, "decides whether there is a step")
        yield violation(
            home(leap or updated, project),
            (leap or updated).node,
            "the step is given up here behind unscale_() and without update(): the next unscale_() raises that it has "
            "already been called"
            if leap is not None
            else "update() comes with the steps alone that are made: behind a step that is given up, the next "
            "unscale_() raises that it has already been called",
            "call scaler.update() on this way, too"
            if leap is not None
            else "call scaler.update() whatever the test says",
            steps=(
                shown(unscaled, project, "the scaler takes its factor out"),
                shown(updated, project, "update() comes on the other way only") if leap is not None else told,
            ),
            confidence=Confidence.LIKELY,
        )

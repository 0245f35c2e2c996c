"""The program counts micro-batches before it steps a DeepSpeed engine, which counts them itself.

What it does: runs each script on values that are not known, and flags `engine.step()` under a test that lets every k-th
micro-batch through, where the engine is configured with `gradient_accumulation_steps` of its own; and under a test of
`is_gradient_accumulation_boundary()`.

Why it matters: the engine counts a micro-batch in each `step()`, and updates the weights in every k-th of these. Called
in every k-th round only, it updates once in k * k rounds, with gradients of k * k micro-batches; the schedule of the
learning rate hardly moves. Behind its own boundary test it never counts, and never steps.

Bad:

    engine.backward(loss)
    if (i + 1) % accumulate == 0:
        engine.step()

Good:

    engine.backward(loss)
    engine.step()

What it cannot see: what a configuration file says: the dict has to be in the program.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.engine_steps import counted_twice
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A321"
NAME = "engine-step-counted-twice"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-schedule"
WORDS = ("step",)
CHECKLIST = "an engine that accumulates by itself is stepped with each micro-batch"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the steps that two counters hold back."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for stepped, guard, backward in counted_twice(execution):
        yield violation(
            home(stepped, project),
            stepped.node,
            "the engine counts its micro-batches in step(), and comes here with every k-th only: the weights are "
            "updated far too rarely",
            "engine.step() behind each engine.backward(): it updates where its gradient_accumulation_steps are full",
            steps=(
                shown(backward, project, "each micro-batch comes here"),
                step(project.file_with(guard.function), guard.node, "this lets every k-th through"),
            ),
            confidence=Confidence.LIKELY,
        )

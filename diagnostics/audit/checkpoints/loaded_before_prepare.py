"""Accelerate loads its state before it was given a model.

What it does: runs each script on values that are not known, and flags `load_state()` of an Accelerator that has
prepared nothing by then, where it prepares a model or an optimizer further down.

Why it matters: load_state() goes through what prepare() was given, and loads that. Before the first prepare() this is
an empty list: the random state is restored, nothing else is, and no error is raised. The run goes on at the step of its
checkpoint with fresh weights.

Bad:

    accelerator = Accelerator()
    accelerator.load_state(path)
    model, optimizer = accelerator.prepare(model, optimizer)

Good:

    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.load_state(path)

What it cannot see: what is prepared between two loads, as an optimizer that may be meant to begin anew; accelerators
that other libraries were given.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.before_prepare import loaded_before_prepare
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A418"
NAME = "loaded-before-prepare"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "checkpoint-not-loaded", "resumed"
WORDS = ("load_state",)
CHECKLIST = "a state is loaded into what Accelerate has prepared"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loads that find nothing to load into."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loaded, prepared in loaded_before_prepare(execution):
        yield violation(
            home(loaded, project),
            loaded.node,
            "the Accelerator has prepared nothing yet, so that load_state() restores no model and no optimizer, and "
            "says nothing: the run goes on with fresh weights",
            "load_state() behind prepare()",
            steps=(shown(prepared, project, "the first prepare() comes here"),),
            confidence=Confidence.LIKELY,
        )

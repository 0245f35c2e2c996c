"""A run that goes on in the middle of an epoch leaves out the first batches of every later epoch, too.

What it does: runs each script on values that are not known, and flags what `skip_first_batches` or `islice` gave of a
loader, where the loop over epochs goes over it and nothing puts the whole loader back; what they give anew in each
epoch, and `if step < resume_step: continue`, of a number out of a checkpoint, under no test of the epoch and never set
to 0.

Why it matters: batches that were seen are to be left out once. Left out in each epoch, a part of the data is never
trained on again, epochs are too short, and a step count of which the next resume works out the epoch fits no more. What
`islice` gave is empty from the second epoch on.

Bad:

    loader = accelerator.skip_first_batches(loader, resume_step)
    for epoch in range(first_epoch, epochs):
        for batch in loader:

Good:

    for epoch in range(first_epoch, epochs):
        active = loader
        if epoch == first_epoch and resume_step > 0:
            active = accelerator.skip_first_batches(loader, resume_step)
        for batch in active:

What it cannot see: samplers and data sets of the project that begin in their middle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.skipped_again import (
    batches_left_out_again,
    loaders_cut_again,
    loaders_cut_for_good,
)
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A129"
NAME = "skipped-in-every-epoch"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "loader-empty", "resumed"
WORDS = ("skip_first_batches", "islice", "enumerate")
SUBJECT = ("skip_first_batches", "islice", "enumerate")
CHECKLIST = "what a resumed run has seen is left out of its first epoch alone"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what is left out again and again."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for skip, read, loop in loaders_cut_for_good(execution, project):
        comes = (
            "from the second epoch on there is nothing in it"
            if skip.name.endswith("islice")
            else "each later epoch leaves out its first batches, too"
        )
        yield violation(
            home(skip, project),
            skip.node,
            f"the batches of the interrupted epoch are left out here, and every epoch goes over what is left: {comes}",
            "read the shortened loader in the first epoch alone, the whole one in the others",
            steps=(
                step(project.file_with(loop.function), loop.node, "the loop over epochs"),
                shown(read, project, "which reads the shortened loader in each round"),
            ),
            confidence=Confidence.LIKELY,
        )
    for skip, read, loop in loaders_cut_again(execution):
        yield violation(
            home(skip, project),
            skip.node,
            "the batches of the interrupted epoch are left out here in every epoch: nothing asks which epoch it is, or "
            "sets their number to 0",
            "ask for the epoch as well: `if epoch == first_epoch and ...`, or set the number to 0 behind it",
            steps=(
                step(project.file_with(loop.function), loop.node, "the loop over epochs"),
                shown(read, project, "each round reads the loader without its first batches"),
            ),
            confidence=Confidence.LIKELY,
        )
    for leap, loop, bound in batches_left_out_again(execution):
        yield violation(
            home(leap, project),
            leap.guards[-1].node,
            f"batches are left out up to {ast.unparse(bound)[:40]} in every epoch, not only in the one that was "
            "interrupted: nothing asks which it is, or sets that to 0",
            "ask for the epoch as well: `if epoch == first_epoch and ...`, or set the number to 0 behind it",
            steps=(step(project.file_with(loop.function), loop.node, "the loop over epochs"),),
            confidence=Confidence.LIKELY,
        )

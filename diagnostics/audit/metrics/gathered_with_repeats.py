"""An evaluation gathers with Accelerate's gather(), which keeps the samples that were repeated.

What it does: runs each script on values that are not known, and flags `accelerator.gather()` of labels, predictions or
features of each sample, under no_grad in a loop over a prepared loader, in a program that neither uses
`gather_for_metrics()` nor cuts what it gathered.

Why it matters: a prepared loader gives every process as many batches as the others, and repeats samples from the
beginning for that. They are counted twice: a metric is another one with each number of processes, and where samples are
compared to each other, a repeated one finds itself.

Bad:

    predictions, labels = accelerator.gather((logits.argmax(-1), batch["labels"]))

Good:

    predictions, labels = accelerator.gather_for_metrics((logits.argmax(-1), batch["labels"]))

What it cannot see: whether the size of the data set divides evenly.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.repeated_samples import gathered_with_repeats
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A229"
NAME = "gathered-with-repeats"
SEVERITY = Severity.WARNING
WORDS = ("gather",)
CHECKLIST = "metrics are gathered without the samples that were repeated"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the gathers that keep repeated samples."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for gathered, prepared in gathered_with_repeats(execution):
        yield violation(
            home(gathered, project),
            gathered.node,
            "the samples that Accelerate repeats to make the last batch even stay in what gather() gives: they count "
            "twice in the metric",
            "accelerator.gather_for_metrics(), which takes them out",
            steps=(shown(prepared, project, "from here on each process gets as many batches as the others"),),
            confidence=Confidence.LIKELY,
        )

"""A model's weights are changed on one rank, and every rank goes on with its own.

What it does: runs each script on values that are not known, and flags load_state_dict under a test of the rank behind
the wrapping, and averages that one rank alone updates, of a model that all ranks then call, where nothing hands the
weights out.

Why it matters: DistributedDataParallel hands out the weights once, when it is made. What rank 0 loads later the others
never see: the replicas train on from different weights, and their averaged gradients fit none of them. A teacher that
one rank updates gives the others the targets of its first day.

Bad:

    model = DDP(net)
    if rank == 0:
        model.module.load_state_dict(torch.load(path, map_location="cpu"))

Good:

    net.load_state_dict(torch.load(path, map_location="cpu"))   # on every rank, before the wrapping
    model = DDP(net)

What it cannot see: weights that a library hands out. Where ranks exchange anything afterwards nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.on_one_rank import changed_on_some
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A117"
NAME = "changed-on-one-rank"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "rank-divergence", "ranks"
WORDS = ("load_state_dict", "parameters", "named_parameters", "state_dict")
CHECKLIST = "weights are loaded and averaged on every rank"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the changes that the other ranks do not see."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for change, used in changed_on_some(execution):
        yield violation(
            home(change, project),
            change.node,
            "only some ranks come here, and all of them go on with this model: the weights of the others stay as they "
            "were",
            "do it on every rank, or broadcast the weights from the rank that does",
            steps=(shown(used, project, "every rank uses it here"),),
            confidence=Confidence.LIKELY,
        )

"""Gradients that DDP or FSDP averaged over the ranks are divided by what all ranks counted together.

What it does: runs each script on values that are not known, and flags a loss that is divided by a sum over all ranks
before its backward, and gradients that are scaled by one over such a sum afterwards, of a model in DDP, FSDP or behind
fully_shard, where the number of ranks is nowhere in the factor.

Why it matters: the average has divided by the number of ranks already. All gradients are too small by that factor:
clipping acts later, weight decay is stronger beside them, and each number of GPUs trains differently.

Bad:

    dist.all_reduce(num_tokens)
    scale_grads(model, 1 / num_tokens)

Good:

    dist.all_reduce(num_tokens)
    scale_grads(model, dist.get_world_size() / num_tokens)

What it cannot see: factors that are put into the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.global_counts import divided_by_all
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Made
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A232"
NAME = "averaged-and-divided-by-all"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = operations.SUMS
CHECKLIST = "averaged gradients are divided by what one rank counted on average"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the divisions that come on top of the average."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for event, quotient, summed in divided_by_all(execution):
        made = isinstance(quotient, Made) and quotient.name == "/" and quotient.node and quotient.function
        place = quotient if made and isinstance(quotient, Made) else event
        yield violation(
            home(place, project),
            place.node or event.node,
            "this divides by what all ranks counted together, and the gradients are averaged over the ranks as well: "
            "they are too small by the number of ranks",
            "multiply by dist.get_world_size(), or divide by the mean of the counts",
            steps=(
                shown(summed, project, "summed over all ranks here"),
                shown(event, project, "the gradients of a wrapped model, which are averaged"),
            ),
            confidence=Confidence.LIKELY,
        )

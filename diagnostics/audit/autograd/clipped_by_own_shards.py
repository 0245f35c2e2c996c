"""The gradients of an FSDP model are clipped by the norm of the shards that one rank holds.

What it does: runs each script on values that are not known, and flags torch.nn.utils.clip_grad_norm_ of the parameters
of a FullyShardedDataParallel model whose strategy is not NO_SHARD; and gradients of sharded models that are scaled by a
norm of the program's own, of the local shards, which nothing sums over the ranks.

Why it matters: each rank holds a part of each parameter and of its gradient. The function measures that part alone: the
norm is too small, and another one on each rank, so that the parts of one gradient are scaled differently. The step goes
in another direction than the gradient, and nothing says so.

Bad:

    model = FullyShardedDataParallel(net)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)

Good:

    model.clip_grad_norm_(1.0)

Parameters of fully_shard are DTensors, of which clip_grad_norm_ measures the whole: those are right.

What it cannot see: models that a library wraps.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.shards_clipped import clipped_by_own_shards, scaled_by_own_norm
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A318"
NAME = "clipped-by-own-shards"
SEVERITY = Severity.WARNING
RUN_CLASS = "rank-divergence"
WORDS = ("clip_grad_norm_", "to_local", "FullyShardedDataParallel", "fully_shard")
CHECKLIST = "gradients of sharded models are clipped by their whole norm"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the clips by a part of the norm."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for clip, wrapper in clipped_by_own_shards(execution):
        yield violation(
            home(clip, project),
            clip.node,
            "clip_grad_norm_ of torch.nn.utils measures the shards of this rank alone: the norm is too small, and "
            "another one on each rank",
            "model.clip_grad_norm_(limit), which measures the gradients of all ranks",
            steps=(shown(wrapper, project, "FSDP parts the parameters among the ranks"),),
            confidence=Confidence.LIKELY,
        )
    for scaled, sharding in scaled_by_own_norm(execution):
        yield violation(
            home(scaled, project),
            scaled.node,
            "these gradients are scaled by a number that is measured on the shards of this rank alone: it is another "
            "one on each rank",
            "sum the squares over the ranks before the root: dist.all_reduce(norm_squared); or clip_grad_norm_ of "
            "torch.nn.utils, which measures DTensors whole",
            steps=(shown(sharding, project, "the parameters are parted among the ranks"),),
            confidence=Confidence.LIKELY,
        )

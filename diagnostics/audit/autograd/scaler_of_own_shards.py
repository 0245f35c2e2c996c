"""A gradient scaler that asks no other rank steps an FSDP model, of which each rank holds a part.

What it does: runs each script on values that are not known, and flags `torch.amp.GradScaler` whose `step()` is given an
optimizer over the parameters of a FullyShardedDataParallel model that is sharded.

Why it matters: the scaler looks for overflows in the gradients that this rank holds. A rank whose shard overflowed
skips the step and halves its scale; the others step. From then on the shards belong to different models, and nothing
is raised.

Bad:

    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(fsdp_model(x).sum()).backward()
    scaler.step(optimizer)

Good:

    scaler = ShardedGradScaler()     # torch.distributed.fsdp.sharded_grad_scaler: overflows are agreed on
    MixedPrecision(param_dtype=torch.bfloat16)   # needs no scaler

What it cannot see: whether a setting switches the scaler off. fully_shard() is left alone: operations on DTensors ask
all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.shard_scalers import steps_by_own_shards
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A320"
NAME = "scaler-of-own-shards"
SEVERITY = Severity.WARNING
RUN_CLASS = "rank-divergence"
WORDS = ("GradScaler",)
CHECKLIST = "overflows in shards are agreed on"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the scalers that each rank asks for itself."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for stepped, scaler, model in steps_by_own_shards(execution):
        yield violation(
            home(scaler, project),
            scaler.node or stepped.node,
            "this scaler looks for overflows in the shards that one rank holds: a rank that finds some skips the step, "
            "the others take it",
            "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler(), with the same arguments",
            steps=(
                shown(model, project, "each rank holds a part of the parameters"),
                shown(stepped, project, "a rank steps here by what its own part says"),
            ),
            confidence=Confidence.LIKELY,
        )

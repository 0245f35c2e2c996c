"""Parameters that were put into a model after FSDP had sharded it: each rank trains its own.

What it does: where FSDP shares a model among the ranks, and the optimizer holds whole parameters beside its shards,
compares samples of these and of their gradients before a few steps. Where all of them drift, and nothing as large goes
between the ranks but shards, no one averages them.

Why it matters: FSDP broadcasts, gathers and reduces what it was given when it was made. An adapter (LoRA) or a new head
that comes in afterwards is a plain tensor: each rank draws its own, and learns from its own batches only. The loss goes
down on each, and rank 0's is saved.

Left alone: ranks that average them by hand or in hooks, experts and other parts of one model.

Fix: put them in first, and call fully_shard on the whole afterwards.

Bad:

    fully_shard(model)
    add_adapters(model)

Good:

    add_adapters(model)
    fully_shard(model)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D608"
NAME = "outside-of-shards"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_SHARDS = re.compile(r"(?<!def )\b(?:fully_shard|FSDP|FullyShardedDataParallel)\(")


def match(job: Job) -> Match | None:
    """Returns the ranks that each train parameters beside the shards."""
    gap = unsynchronised(job, SyncGap.OUTSIDE)
    if gap is None:
        return None
    first, model = gap.found.processes[0], gap.found.model
    leaf = re.escape(model.names[gap.first].rpartition(".")[2])
    made = lines_like(job, first, re.compile(rf"\bself\.{leaf}\s{{0,9}}[:=]"))[:1]
    shards = lines_like(job, first, _SHARDS)[:2]
    at = f" ({job.line(shards[0])})" if shards else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"FSDP{at} shards the model without them: they came in later, and nobody reduces their gradients",
        fix="put them into the model before fully_shard is called on it; or broadcast them once, and average their "
        "gradients by hand in each step",
        places=(*made, *shards, *own(first, model.made)[:1]),
        confidence=Confidence.LIKELY,
    )

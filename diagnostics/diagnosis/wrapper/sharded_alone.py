"""FSDP was given a mesh or group of one rank: it shards over nobody, and reduces gradients with nobody.

What it does: where every rank made a DistributedSampler, and FSDP on every rank holds the model over a group of that
rank alone, compares samples of gradients and parameters before a few steps. Where they drift and nothing as large as
the model went between the ranks from Python, each trains a model of its own.

Why it matters: nothing fails, since a group of one rank is a valid one. It is what is left of a mesh of replicas and
shards when its dimension of shards alone is handed over, and has size 1.

Left alone: models that the ranks average by hand, ranks without a common data set, parts of one model.

Fix: give FSDP the mesh of all ranks that train the model: the whole of a mesh of replicas and shards, for HSDP.

Bad:

    mesh = init_device_mesh("cuda", (2, 1), mesh_dim_names=("replicate", "shard"))
    fully_shard(model, mesh=mesh["shard"])

Good:

    fully_shard(model, mesh=mesh)
"""

from __future__ import annotations

import re

from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D606"
NAME = "sharded-over-one-rank"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_SHARDS = re.compile(r"(?<!def )\b(?:fully_shard|FSDP|FullyShardedDataParallel)\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose FSDP shares gradients with no other rank."""
    gap = unsynchronised(job, SyncGap.ALONE)
    if gap is None:
        return None
    first = gap.found.processes[0]
    shards = lines_like(job, first, _SHARDS)
    at = f" ({job.line(shards[0])})" if shards else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"FSDP on each rank was made over a group of this rank alone{at}: it reduces their gradients with nobody",
        fix="give FSDP the mesh or group of all ranks that train this model: for HSDP the whole mesh of replicas and "
        "shards, not its dimension of shards",
        places=(*shards, *own(first, gap.found.model.made)[:1]),
    )

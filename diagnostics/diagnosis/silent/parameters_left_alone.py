"""Parameters inside DistributedDataParallel that it does not synchronise: unfrozen or added after it was made.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where some drift inside a
wrapper that averages the others, they were not among what it took up when it was made.

Why it matters: DDP registers its hooks once, for the parameters that require gradients then. A layer that is unfrozen
or replaced later trains on each rank by itself.

Bad:

    model = DistributedDataParallel(model)
    for p in model.module.backbone.parameters(): p.requires_grad = True

Good:

    for p in model.backbone.parameters(): p.requires_grad = True
    model = DistributedDataParallel(model)
"""

from __future__ import annotations

import re

from diagnostics.diagnosis.replica_match import not_averaged, others_of
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D522"
NAME = "parameters-left-alone"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_UNFROZEN = re.compile(r"requires_grad\s*=(?!\s*False|=)|requires_grad_\((?!\s*False)|(?<!def )\bunfreeze\w*\(")


def match(job: Job) -> Match | None:
    """Returns the ranks of which a wrapper averages some parameters and leaves others alone."""
    gap = unsynchronised(job, SyncGap.LEFT_ALONE)
    if gap is None or gap.wrapper is None:
        return None
    first = gap.found.processes[0]
    wrapped = own(first, gap.wrapper.made)[:1]
    changed = lines_like(job, first, _UNFROZEN)
    at = f" at {job.line(wrapped[0])}" if wrapped else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"DistributedDataParallel was made{at} when they did not require gradients, or were not there",
        fix=f"unfreeze or add {others_of(gap.found, gap.tensors)} before the model is wrapped"
        f"{f' ({job.line(wrapped[0])})' if wrapped else ''}, or wrap it anew after that",
        places=(*changed[:2], *wrapped) if changed else wrapped,
    )

"""Ranks of one process group divide the data and exchange nothing: each trains a model of its own.

What it does: where every rank made a DistributedSampler, compares samples of gradients and parameters before a few
steps. Where they drift, no wrapper exists, and nothing but barriers and a few numbers went between the ranks in all
that time, the model was never wrapped.

Why it matters: the run looks like data-parallel training, and its result is that of one rank on a fraction of the data.
Independent runs (folds, sweeps) have no sampler that divides one data set, and are left alone.

Fix: `model = DistributedDataParallel(model)` before the optimizer is made.
"""

from __future__ import annotations

from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.pending_exchanges import averaging_never_reached
from diagnostics.dynamic.replicas.source_lines import model_in, own, text_of
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D524"
NAME = "model-never-wrapped"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks that share a data set and nothing else."""
    gap = unsynchronised(job, SyncGap.NEVER_WRAPPED)
    if gap is None:
        return None
    first = gap.found.processes[0]
    made = own(first, gap.found.model.made)[:1]
    model = model_in(text_of(job, made[0])) if made else "model"
    missed = averaging_never_reached(job, gap.found)[:1]
    if missed:
        return not_averaged(
            job,
            gap,
            code=CODE,
            name=NAME,
            why=f"gradients are never averaged: {job.line(missed[0])}, which would do it, is not reached",
            fix="let the loop around it go over the parameters: what model.parameters() gives is used up by the "
            "first who goes over it, such as an optimizer; keep list(model.parameters())",
            places=(*made, *missed),
        )
    before = f" before {job.line(made[0])}" if made else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why="nothing exchanges their gradients: each rank trains a model of its own on its share of the data",
        fix=f"{model} = torch.nn.parallel.DistributedDataParallel({model}){before}",
        places=made,
    )

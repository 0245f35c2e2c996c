"""Gradients of a wrapped model that were computed around DistributedDataParallel: no gradient is averaged.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where the wrapper ran with
its synchronisation on in each of them, nothing went between the ranks for ten steps and more by the group's own
counter, and what began as equals drifts apart, no backward pass came by its reducer. Names the lines that take
gradients otherwise.

Why it matters: DDP averages in hooks of backward(). torch.autograd.grad, torch.func.grad and gradients that are
written into .grad run none of them (gradient surgery, meta-learning, per-sample gradients); each rank trains a model
of its own.

Bad:

    grads = torch.autograd.grad(loss, params)
    for p, g in zip(params, combine(grads)): p.grad = g

Good:

    for p, g in zip(params, combine(grads)):
        dist.all_reduce(g)
        p.grad = g / dist.get_world_size()
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D535"
NAME = "gradients-around-wrapper"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_TAKES = re.compile(
    r"\b(?:autograd|func|functorch)\.(?:grad|vjp|grad_and_value)\(|(?<![\w.])(?:grad|vjp|grad_and_value)\("
)
_WRITES = re.compile(r"\.grad\s{0,4}=(?!=)(?!\s{0,4}None\b)")


def match(job: Job) -> Match | None:
    """Returns the ranks whose gradients went around the wrapper's reducer."""
    gap = unsynchronised(job, SyncGap.AROUND)
    if gap is None or gap.wrapper is None:
        return None
    first = gap.found.processes[0]
    taken = (*lines_like(job, first, _TAKES, most=2), *lines_like(job, first, _WRITES, most=2))
    at = f" (the gradients are made at {job.line(taken[0])})" if taken else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"no backward pass came by the reducer of DistributedDataParallel: nothing went between the ranks{at}",
        fix="average them before the step: all_reduce each gradient and divide by the number of ranks; or let "
        "backward() of the wrapper's own output make them",
        places=(*taken, *own(first, gap.wrapper.made)[:1]),
        confidence=Confidence.CONFIRMED if gap.measured and taken else Confidence.LIKELY,
    )

"""The ranks train one model with constants of their own: a buffer that nothing changes and that differs by rank.

What it does: compares samples of buffers before a few steps, over ten steps and more. Where the gradients of all ranks
are equal, so that they train one model, and a buffer of numbers stands still on each rank and differs between them, it
was drawn by each rank's own random numbers: Fourier features, random projections, a codebook, a mask.

Why it matters: the weights are the mean of what fits N different models, and the checkpoint holds one rank's constants.
DistributedDataParallel sends rank 0's buffers to all, but not with broadcast_buffers=False; FSDP and loops that reduce
by hand never do. Statistics of batch norm, which ranks have of their own, buffers that change, and those of other sizes
(each rank's part of a grid) are left alone.

Fix: seed alike on all ranks before the model is built, or dist.broadcast each buffer once from rank 0.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.wording import shown_ranks
from diagnostics.diagnosis.replica_match import replica_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.buffers import DifferentBuffers, different_buffers
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.tables import COLUMNS, rows

CODE = "D531"
NAME = "buffers-differ"
CLASS = "rank-divergence"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose constants differ under equal gradients."""
    apart = different_buffers(job)
    if apart is None:
        return None
    found, first, name = apart.found, apart.found.processes[0], apart.names[0]
    more = len(apart.names) - 1
    what = name + (f" and {more} more buffers" if more else "")
    made = re.compile(rf"register_buffer\(\s*[frb]?[\"']{re.escape(name.rpartition('.')[2])}[\"']|\bBuffer\(")
    wrapper = found.last(found.ranks[0]).wrappers
    return replica_match(
        job,
        found,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{what} {'are' if more else 'is'} another constant on each of {shown_ranks(found.ranks)}, while the "
        "gradients of all are equal",
        evidence=[
            Evidence(
                source=f"{name} before each of steps {', '.join(map(str, found.steps))}, {COLUMNS}",
                observed=rows(apart.values),
                expected="equal on all ranks",
            )
        ],
        fix=_fix(apart),
        confidence=Confidence.LIKELY,
        places=(*lines_like(job, first, made)[:1], *(own(first, wrapper[0].made)[:1] if wrapper else ())),
    )


def _fix(apart: DifferentBuffers) -> str:
    once = "once before the first step: for b in model.buffers(): dist.broadcast(b, src=0)"
    if apart.found.last(apart.found.ranks[0]).wrappers:
        return (
            f"leave broadcast_buffers=True in DistributedDataParallel, seed alike before the model is built, or {once}"
        )
    return f"seed alike on all ranks before the model is built, or {once}"

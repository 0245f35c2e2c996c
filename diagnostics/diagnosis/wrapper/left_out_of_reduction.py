"""The gradients of some parameters are left out where the program reduces those of others like them by hand.

What it does: compares samples of all ranks' parameters and gradients before a few steps. Told of a norm that began
equal on all ranks and drifts apart, while norms of the same names and shapes have equal gradients on all of them.

Why it matters: under sequence or tensor parallelism each rank sees its own part of the sequence or of the heads. A
replicated norm gets a part of its gradient on each, and the program adds them up for what it has marked. One without
the mark becomes another one on each rank, and the model that is saved belongs to none.

Left alone: layers that are cut into parts, experts, models that a wrapper holds.

Fix: mark it as the others are, or reduce the gradients of all parameters that are replicated.

Bad:

    self.final_norm = nn.LayerNorm(dim)      # the others: SequenceParallelNorm(dim)

Good:

    self.final_norm = SequenceParallelNorm(dim)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.left_out import reduced_at
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D609"
NAME = "left-out-of-reduction"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose replicated parameters drift, and whose others like them do not."""
    gap = unsynchronised(job, SyncGap.LEFT_OUT)
    if gap is None:
        return None
    first = gap.found.processes[0]
    names = [gap.found.model.names[index].split(".") for index in gap.tensors]
    module = re.escape(names[0][-2])
    made = lines_like(job, first, re.compile(rf"\bself\.{module}\s{{0,9}}[:=]"))[:1]
    reduces = reduced_at(gap.found, first)[:2]
    at = f" ({job.line(reduces[0])})" if reduces else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"their gradients are left out where those of norms like them are made equal on all ranks{at}",
        fix="reduce them with the others: mark this module as the others are marked, or go over all parameters that "
        "are the same on every rank",
        places=(*made, *reduces, *own(first, gap.found.model.made)[:1]),
        confidence=Confidence.LIKELY,
    )

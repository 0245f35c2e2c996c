"""DistributedDataParallel ran with its synchronisation off in each step: no gradient is averaged.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where they differ though the
wrapper ran, looks whether any of its forward passes synchronised from then on, and names the line with `no_sync`, or
the one that gives the flag back.

Why it matters: `no_sync()` is for all micro-batches but the last of a step. Left on for the last one, too, each rank
trains a model of its own, and nothing fails.

Bad:

    with model.no_sync():
        for x in micro_batches: model(x).backward()
    optimizer.step()

Good:

    for number, x in enumerate(micro_batches, 1):
        with model.no_sync() if number < len(micro_batches) else nullcontext(): model(x).backward()
    optimizer.step()
"""

from __future__ import annotations

import re

from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D521"
NAME = "no-sync-left-on"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

# Where the flag is given back comes first: whoever sets it by hand may give it back to another module, or never.
_GIVES_BACK = re.compile(r"require_backward_grad_sync\s*=(?!\s*(?:False\b|=))")
_OFF = re.compile(r"(?<!def )\bno_sync\b|require_backward_grad_sync\s*=(?!=)")


def match(job: Job) -> Match | None:
    """Returns the ranks whose wrapper never synchronised."""
    gap = unsynchronised(job, SyncGap.NO_SYNC)
    if gap is None or gap.wrapper is None:
        return None
    first = gap.found.processes[0]
    off = tuple(dict.fromkeys((*lines_like(job, first, _GIVES_BACK), *lines_like(job, first, _OFF))))
    at = f" ({job.line(off[0])})" if off else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"DistributedDataParallel ran with its synchronisation off before each step{at}",
        fix="leave no_sync() for the last micro-batch before optimizer.step(), forward and backward",
        places=(*off, *own(first, gap.wrapper.made)[:1]),
    )

"""The model inside DistributedDataParallel was called, not the wrapper: no gradient is averaged.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where they differ, looks
whether the wrapper's own forward ever ran, and names the line that called what it wraps.

Why it matters: DDP prepares its reduction in its own forward. Called around it, each rank trains a model of its own on
its share of the data; nothing fails, and the checkpoint is rank 0's.

Bad:

    loss = model.module(x)

Good:

    loss = model(x)
"""

from __future__ import annotations

from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.chosen_models import choosing_frame
from diagnostics.dynamic.replicas.source_lines import own, text_of
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D520"
NAME = "wrapper-bypassed"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose wrapper was never called."""
    gap = unsynchronised(job, SyncGap.BYPASSED)
    if gap is None or gap.wrapper is None:
        return None
    first = gap.found.processes[0]
    path, wrapped = own(first, gap.wrapper.inner_call), own(first, gap.wrapper.made)
    # A method of the model calls itself, a helper what it is given: who reached past the wrapper is further out.
    outside = [frame for frame in path if not frame.function.startswith(f"{gap.wrapper.class_name}.")] or list(path)
    reached = [frame for frame in outside if ".module" in text_of(job, frame)]
    called = reached or outside[choosing_frame(job, outside) :]
    at = f" at {job.line(called[0])}" if called else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"{gap.wrapper.class_name} is called{at} without the DistributedDataParallel around it",
        fix=_fix(text_of(job, called[0]) if called else ""),
        places=(*called[:1], *path[:1], *wrapped[:1]),
    )


def _fix(line: str) -> str:
    if ".module(" in line:
        return f"call the wrapper: {line.replace('.module(', '(')}"
    return (
        "call the object that DistributedDataParallel returned, and do in its forward() what is done around it: "
        "DDP prepares the reduction of gradients there"
    )

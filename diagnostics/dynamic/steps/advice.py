"""What to change, in words, with the number to set. Pure."""

from __future__ import annotations

from diagnostics.dynamic.steps.contention import Oversubscription
from diagnostics.dynamic.steps.starvation import LoaderStage, Starvation
from diagnostics.dynamic.steps.straggler import Reason, Straggler
from diagnostics.dynamic.steps.table import percent

_FIXES = {
    Reason.DATA: "make its data come as fast as that of the others: the same storage, as many workers, equal parts",
    Reason.CHECKPOINT: (
        "write checkpoints less often, or in the background: torch.distributed.checkpoint.async_save, or torch.save of "
        "a copy in a thread"
    ),
    Reason.GARBAGE: "collect garbage on all ranks at the same steps: gc.disable(), and gc.collect() every 1000 steps",
    Reason.SWAP: "give it memory: its pages are read back from disk; fewer workers, a smaller batch",
    Reason.WORK: "give each rank as much work: batches of equal length (bucket by length, or cap it)",
    Reason.CPU: "do this work less often, in a process of its own, or spread over the ranks",
    Reason.READS: "read and write less often or in the background: buffer what is logged, copy data to a local disk",
    Reason.WAITS: "do not wait inside of the step: log and upload in the background, and only every so many steps",
    Reason.THROTTLED: "raise the CPU limit of its container, or use fewer threads and workers than it allows",
    Reason.NEIGHBOUR: "end what else runs on its CPUs, or pin the ranks to CPUs of their own",
    Reason.UNKNOWN: "look at what this rank does and the others do not: py-spy record on it and on another one",
}


def straggler_fix(late: Straggler) -> str:
    """Returns what to do about a rank that is late, and what that would give."""
    return f"{_FIXES[late.reason]}. Estimate: up to {percent(late.cost)} of the step"


def starvation_fix(found: Starvation) -> str:
    """Returns what to do about ranks that wait for data."""
    parts = []
    if found.wanted > found.workers:
        parts.append(f"num_workers={found.wanted}, persistent_workers=True in this DataLoader")
    if found.stage is LoaderStage.DECODE:
        parts.append("decode once and keep the result (ups-doctor scan-cache checks such files)")
    elif found.stage is LoaderStage.READ:
        parts.append("read fewer, larger files, from a local disk, or ahead of time")
    elif found.stage is LoaderStage.COLLATE:
        parts.append("collate with torch.stack on tensors of equal shape instead of Python loops")
    elif found.stage is LoaderStage.HAND_OVER:
        parts.append("a larger prefetch_factor, smaller samples, tensors in place of lists of numbers")
    gain = f". Estimate: {percent(found.gain)} of the step" if found.gain else ""
    return "; ".join(parts) + gain if parts else f"make batches faster{gain}"


def threads_fix(found: Oversubscription) -> str:
    """Returns the number of threads that fits."""
    return (
        f"OMP_NUM_THREADS={found.wanted} before the start, or torch.set_num_threads({found.wanted}) first in the "
        f"program: {found.cpus} CPUs for {len(found.splits)} ranks. Estimate: up to {percent(found.lost)} of the step"
    )

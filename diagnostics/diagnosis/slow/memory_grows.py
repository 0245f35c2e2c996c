"""The memory of a rank grows with every step and does not stop.

What it does: follows the private memory of each rank from outside. It is told where it grows on a straight line through
all steps after the first ones, over several passes over the data, by 128 MiB or more, and as much in the second half
as in the first, and something of the program is seen to hold ever more tensors with their graphs, or a line of it
keeps its losses, or what they are computed of, with the graph: that line is named. Tensors without graphs are told
where they are most of what grows, pass after pass over the data, from 64 MiB on.
A cache that fills up, a replay buffer and an allocator that finds its size are left alone.

Why it matters: the run is killed hours in, when the memory is gone, and a machine that swaps is slow long before.

Fix: keep numbers and no tensors (loss.item(), loss.detach()); clear lists and dictionaries that each step adds to.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence
from diagnostics.core.wording import format_bytes, shown_ranks
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.slow_match import LEAST_STEPS, told
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.training_passes import training_loaders
from diagnostics.dynamic.steps.held_tensors import HeldTensors, held_tensors
from diagnostics.dynamic.steps.kept_losses import kept_loss_lines
from diagnostics.dynamic.steps.memory_growth import MemoryGrowth
from diagnostics.dynamic.steps.view import step_view

CODE = "D804"
NAME = "memory-grows"
CLASS = "memory-leak"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_BYTES, LEAST_PASSES = 128 << 20, 3
LEAST_EXPLAINED_BYTES = 64 << 20  # where tensors that are held are seen to be most of it
MOST_OF_IT = 0.5


def match(job: Job) -> Match | None:
    """Returns the ranks whose memory grows for as long as they train."""
    view = step_view(job)
    growing = [one for one in view.growing if one.grown_bytes >= LEAST_EXPLAINED_BYTES and _is_past_caches(one)]
    if not growing or len(growing[0].of.steps) < LEAST_STEPS:
        return None
    worst = max(growing, key=lambda one: one.step_bytes)
    held = held_tensors(job, worst.of.process)
    if held is not None and held.mark.entry_bytes and not _is_what_grows(held, worst):
        held = None
    explained = held is not None and _is_what_grows(held, worst)
    growing = [one for one in growing if explained or one.grown_bytes >= LEAST_BYTES]
    if not growing or worst not in growing:
        return None
    if held is None and len(growing) < len(view.splits):  # one rank may fill a buffer by itself
        return None
    lines = tuple(map(job.line, held.lines)) if held is not None else kept_loss_lines(job)
    if not lines:  # a replay buffer that fills grows on a straight line, too
        return None
    return told(
        job,
        [one.of.process for one in growing] if len(growing) < len(view.splits) else [],
        view.splits,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(growing, worst, lines[0], held),
        evidence=[
            Evidence(
                source=f"private memory of rank {one.of.rank} (/proc), {one.looks} looks in {one.seconds:.1f} s",
                observed=f"{format_bytes(one.first_bytes)} to {format_bytes(one.last_bytes)}, on a straight line",
                expected="the same after the first pass over the data",
            )
            for one in growing[:8]
        ]
        + _held_evidence(held),
        fix=_fix(lines[0], held),
        locations=lines,
    )


def _is_past_caches(one: MemoryGrowth) -> bool:
    """Whether the data were gone over several times meanwhile, or there is no loader to say so."""
    loaders = training_loaders(one.of.process)
    return not loaders or max(len(loader.passes) for loader in loaders) >= LEAST_PASSES


def _is_what_grows(held: HeldTensors, worst: MemoryGrowth) -> bool:
    """Whether tensors without graphs are most of it, and no replay buffer: there are passes over data that end."""
    passes = max((len(loader.passes) for loader in training_loaders(worst.of.process)), default=0)
    return passes >= LEAST_PASSES and held.step_bytes >= MOST_OF_IT * worst.step_bytes


def _fix(line: str, held: HeldTensors | None) -> str:
    if held is not None and held.mark.entry_bytes:
        return f"keep at {line} only what is read later: the latest entries, or numbers; clear it after each epoch"
    return f"keep the number at {line}: loss.item(), or .detach().cpu() where the values are needed"


def _held_evidence(held: HeldTensors | None) -> list[Evidence]:
    if held is None:
        return []
    mark = held.mark
    what = "additions behind" if mark.sum else "entries of"
    kind = f"{format_bytes(mark.entry_bytes)} each" if mark.entry_bytes else "with graphs"
    return [
        Evidence(
            source=f"{what} {mark.path}{f' ({mark.owner})' if mark.owner else ''} by step {mark.step}",
            observed=f"{mark.length}, {mark.length - mark.before} more than {mark.steps} steps before, {kind}",
            expected="as many as before, or numbers without a graph",
        )
    ]


def _title(growing: list[MemoryGrowth], worst: MemoryGrowth, line: str, held: HeldTensors | None) -> str:
    who = shown_ranks([one.of.rank for one in growing])
    graph = "" if held is not None and held.mark.entry_bytes else ", with its graph"
    return (
        f"The memory of {who} grows by {format_bytes(worst.step_bytes)} in each step, by "
        f"{format_bytes(worst.grown_bytes)} so far, and does not stop; "
        f"{line} keeps what each step computed{graph}{f', in {held.mark.path}' if held is not None else ''}"
    )

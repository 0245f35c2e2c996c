"""What ranks exchanged of their models from Python, beside what a wrapper does in C++. Pure.

A loop that reduces gradients or averages parameters by hand calls torch.distributed with tensors of their shapes, or
with one that holds them all. Sums of a loss and of metrics are smaller.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from diagnostics.agent.shared import operations
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.replicas import Replicas
from diagnostics.record.agent_data import CollectiveCall

SCALARS = 16  # elements: so few are metrics
ENOUGH = 10  # steps
_QUIET = {*operations.CARRY_NOTHING, "wait"}


def exchanges_model(found: Replicas) -> bool:
    """Whether any rank called an operation from Python that may carry parameters or gradients of this model.

    What went before the first look, that is before the first step, may have made the replicas equal and no more.
    Between steps it goes on.
    """
    sizes = {elements(shape) for shape in found.model.shapes}
    parts = {size for size in sizes if size > SCALARS}
    whole = sum(elements(shape) for shape in found.model.shapes)
    return any(
        call.op not in _QUIET
        and (elements(call.shape) in parts or 2 * elements(call.shape) >= whole)
        and not _is_of_the_start(found, process, call)
        for process in found.processes
        for call in _calls([process])
    )


def exchanges_in_forward(found: Replicas) -> bool:
    """Whether the ranks hand parts of data over, as those do that hold parts of one model."""
    return any(call.op in operations.HAND_OVER for call in _calls(found.processes))


def reduces_each_step(found: Replicas) -> bool:
    """Whether each rank sums over as many numbers as the model has in each of its steps, by the group's own counter."""
    whole = sum(elements(shape) for shape in found.model.shapes)
    return all(_least_summed(found, process) >= whole for process in found.processes)


def _least_summed(found: Replicas, process: JobProcess) -> int:
    """Returns the fewest elements that it summed up with others in a step; 0 where steps differ or little is known."""
    agent, rank = process.agent, process.rank
    if agent is None or rank is None or len(agent.groups) > 1:
        return 0
    first, last = found.steps[0], found.steps[-1]
    began, ended = (found.looks[step][rank].number for step in (first, last))
    if began is None or ended is None or last == first or (ended - began) % (last - first):
        return 0
    each = (ended - began) // (last - first)
    sums = [
        elements(call.shape) if call.op in operations.REDUCING else 0
        for call in agent.collectives
        if began <= call.number < ended and not call.failed
    ]
    known = range(len(sums) - each + 1) if each else ()
    return min((sum(sums[at : at + each]) for at in known), default=0)


def _is_of_the_start(found: Replicas, process: JobProcess, call: CollectiveCall) -> bool:
    """Whether the default group's own counter says that it was called before the first look at ENOUGH steps or more."""
    agent = process.agent
    if process.rank is None or agent is None or len(agent.groups) > 1:
        return False
    first = found.looks[found.steps[0]][process.rank]
    long = found.steps[-1] - found.steps[0] >= ENOUGH
    return long and first.number is not None and 0 <= call.number < first.number


def communicates(found: Replicas) -> bool:
    """Whether anything may have gone between the ranks from the first look on but barriers and a few numbers.

    What C++ sends moves the counter of the default group; of other groups nothing is known.
    """
    for process in found.processes:
        agent, rank = process.agent, process.rank
        if agent is None or rank is None or len(agent.groups) > 1:
            return True
        numbers = [found.looks[step][rank].number for step in found.steps]
        calls = {call.number for call in agent.collectives if call.number >= 0}
        later = [call for call in agent.collectives if not _is_of_the_start(found, process, call)]
        if any(number is None for number in numbers) or _exceeds(later):
            return True
        first, last = numbers[0] or 0, numbers[-1] or 0
        if any(number not in calls for number in range(first, last)):
            return True
    return False


def shares_with_nobody(found: Replicas) -> bool:
    """Whether the wrappers of every rank were made over groups of this rank alone."""
    texts = [
        [event.text.split() for event in process.agent.events if event.kind == "gradient-group"]
        for process in found.processes
        if process.agent is not None
    ]
    return len(texts) == len(found.processes) and all(
        told and all(f"ranks={process.rank}" in words for words in told)
        for process, told in zip(found.processes, texts, strict=True)
    )


def divides_data(job: Job, found: Replicas) -> bool:
    """Whether every rank made a DistributedSampler: each trains on its own part of one data set."""
    return all(
        process.agent is not None and process.agent.last_event("sampler") is not None for process in found.processes
    )


def elements(shape: str) -> int:
    """Returns 24 for "8x3", 1 for "scalar" and for what is no shape of a tensor."""
    words = shape.split("x")
    return prod(map(int, words)) if all(word.isdecimal() and len(word) < 12 for word in words) else 1


def _exceeds(calls: Iterable[CollectiveCall]) -> bool:
    return any(
        call.op not in _QUIET and (elements(call.shape) > SCALARS or "object" in call.op or "ranks" in call.shape)
        for call in calls
    )


def sums_of(process: JobProcess) -> list[CollectiveCall]:
    """Returns the sums over ranks that it called for, of more than a few numbers."""
    return [call for call in _calls([process]) if call.op in operations.REDUCING and elements(call.shape) > SCALARS]


def _calls(processes: Iterable[JobProcess]) -> Iterable[CollectiveCall]:
    for process in processes:
        yield from process.agent.collectives if process.agent is not None else ()

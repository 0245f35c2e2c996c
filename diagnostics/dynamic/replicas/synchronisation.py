"""Parameters that drift apart because their gradients were not averaged over the ranks, and why they were not. Pure.

Measured are gradients that differ at a step and parameters that differ from then on. That they should be equal is told
by the wrapper that holds them; without one, by a data set that was divided over ranks which exchange nothing. On a
device nothing is measured: there it is enough that nothing at all went between the ranks over many steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.left_out import left_out_of_reduction, outside_of_shards
from diagnostics.dynamic.replicas.pending_exchanges import may_yet_exchange
from diagnostics.dynamic.replicas.replicas import Replicas, differ, replicas
from diagnostics.dynamic.replicas.sharing import (
    communicates,
    divides_data,
    elements,
    exchanges_in_forward,
    exchanges_model,
    reduces_each_step,
    shares_with_nobody,
)
from diagnostics.record.parameter_prints import WrapperFacts

ENOUGH = 10  # steps


class SyncGap(StrEnum):
    """Why the gradients of some parameters were not averaged."""

    BYPASSED = "bypassed"  # what DDP wraps was called, not DDP
    NO_SYNC = "no-sync"  # DDP was called, with its synchronisation off in the last pass before each step
    LEFT_ALONE = "left-alone"  # inside of DDP, and not among what it synchronises
    SECOND_MODEL = "second-model"  # another model of the job is wrapped, this one is not
    NEVER_WRAPPED = "never-wrapped"  # nothing is exchanged at all
    IGNORED = "ignored"  # DDP was told to leave them alone, and they train
    LOCAL_HOOK = "local-hook"  # DDP's exchange was given to a communication hook, and nothing went between the ranks
    AROUND = (
        "around"  # DDP ran to synchronise, and no backward pass came by its reducer: nothing went between the ranks
    )
    ALONE = "alone"  # FSDP holds it over a group of one rank, and nothing is exchanged beside
    OUTSIDE = "outside"  # FSDP shards the model, and these are no part of what it shards
    LEFT_OUT = "left-out"  # gradients are reduced by hand, and those of these alone are not
    THROWN_AWAY = "thrown-away"  # as much as the gradients is reduced by hand in each step, and the step uses its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsynchronised:
    """Some parameters of one optimizer that drift, for one cause."""

    found: Replicas
    gap: SyncGap
    tensors: tuple[int, ...]  # the first is the first one by name that differs
    step: int  # at which gradients were first seen to differ
    wrapper: WrapperFacts | None
    measured: bool  # False: by what did not go between the ranks
    sure: bool  # False: a call of the program that was not made might have averaged them

    @property
    def first(self) -> int:
        """The first parameter."""
        return self.tensors[0]

    @property
    def apart_from(self) -> int:
        """The first step before which it differed between ranks."""
        return self.found.first_difference(self.first) or self.step


def unsynchronised(job: Job, gap: SyncGap) -> Unsynchronised | None:
    """Returns the first group of ranks that drift for this cause, None where no such is sure."""
    return next((one for found in replicas(job) for one in _of_group(job, found) if one.gap is gap), None)


def _of_group(job: Job, found: Replicas) -> Iterator[Unsynchronised]:
    if len(found.steps) < 2 or any(found.last(rank).closure for rank in found.ranks):
        return
    outside, left_out = outside_of_shards(job, found), left_out_of_reduction(found)
    if outside or left_out:
        yield _by_hand(found, SyncGap.OUTSIDE if outside else SyncGap.LEFT_OUT, outside or left_out)
        return
    if exchanges_model(found):
        yield from _thrown_away(found)
        return
    measured = bool(found.tensors)
    drifting = [index for index in found.tensors if found.drifts(index)] if measured else _kept_to_itself(found)
    by_gap: dict[SyncGap, list[int]] = {}
    for index in drifting:
        gap = _gap(job, found, index)
        if gap is not None and (measured or gap not in (SyncGap.LEFT_ALONE, SyncGap.SECOND_MODEL)):
            by_gap.setdefault(gap, []).append(index)
    sure = not by_gap or not may_yet_exchange(job, found)
    if not sure and (job.failed or (job.facts.exit_code is None and job.facts.signal is None)):
        return  # it runs, or was cut short: that call may come, or would have
    for cause, tensors in by_gap.items():
        yield Unsynchronised(
            found=found, gap=cause, tensors=tuple(tensors), wrapper=found.wrapper_of(tensors[0]), measured=measured,
            step=found.unshared_gradient(tensors[0]) or found.steps[0], sure=sure,
        )  # fmt: skip


def _thrown_away(found: Replicas) -> Iterator[Unsynchronised]:
    """Yields the replicas that began as equals, reduce as much as their gradients in each step, and never agree again.

    Averages of parameters make them equal from time to time, and those of gradients the gradients at the step.
    """
    began_equal = found.tensors and all(found.first_difference(index) != found.steps[0] for index in found.tensors)
    if not began_equal or found.steps[-1] < ENOUGH or any(found.model.wrapper) or any(found.model.sharded):
        return
    apart = [
        index
        for index in found.tensors
        if found.drifts(index) and all(differ(found.gradients(step, index)) for step in found.steps)
    ]
    if len(apart) == len(found.tensors) and reduces_each_step(found):
        yield _by_hand(found, SyncGap.THROWN_AWAY, tuple(apart))


def _by_hand(found: Replicas, gap: SyncGap, tensors: tuple[int, ...]) -> Unsynchronised:
    step = found.unshared_gradient(tensors[0]) or found.steps[0]
    return Unsynchronised(found=found, gap=gap, tensors=tensors, wrapper=None, measured=True, step=step, sure=False)


def _kept_to_itself(found: Replicas) -> list[int]:
    """Returns the parameters with gradients on a device, where nothing went between the ranks over ENOUGH steps."""
    last = found.looks[found.steps[-1]].values()
    if any(found.model.sharded) or found.steps[-1] - found.steps[0] < ENOUGH or communicates(found):
        return []
    return [
        index for index in range(len(found.model.names)) if all(one.gradients[index].why == "device" for one in last)
    ]


def _gap(job: Job, found: Replicas, index: int) -> SyncGap | None:
    side = found.model.wrapper[index]
    wrapper = found.wrapper_of(index)
    if wrapper is not None:
        if not set(found.ranks) <= set(wrapper.ranks):
            return None
        if wrapper.hooks:
            return SyncGap.LOCAL_HOOK if side > 0 and _keeps_to_itself(found) else None
        if wrapper.ignored:
            # Experts and parts of a table that each rank holds for itself begin apart, or go between ranks in forward.
            began_equal = found.first_difference(index) != found.steps[0]
            alone = side <= 0 and began_equal and _works(wrapper) and not exchanges_in_forward(found)
            return SyncGap.IGNORED if alone else None
        if side > 0:
            return _of_wrapper(found, wrapper, index)
        return SyncGap.LEFT_ALONE if _works(wrapper) else None
    if side:
        return None  # of one of many wrappers, of which the record has the first few
    if found.last(found.ranks[0]).wrappers:
        equal_at_first = found.first_difference(index) != found.steps[0]
        works = any(_works(one) for one in found.last(found.ranks[0]).wrappers)
        # A number that each rank tunes for itself, such as a temperature, is none.
        whole = any(elements(shape) > 1 for shape in found.model.shapes)
        long = found.steps[-1] >= ENOUGH  # a copy that is adapted to one task of a rank makes fewer steps
        return SyncGap.SECOND_MODEL if works and equal_at_first and whole and long else None
    if not divides_data(job, found):
        return None
    if shares_with_nobody(found):
        return SyncGap.ALONE
    return SyncGap.NEVER_WRAPPED if not communicates(found) else None


def _keeps_to_itself(found: Replicas) -> bool:
    """Whether nothing went between the ranks over ENOUGH steps, the first one left out: then DDP lays its buckets anew.

    What averages now and then, or weights in place of gradients, moves the group's counter.
    """
    later = replace(found, looks={step: found.looks[step] for step in found.steps[1:]})
    return len(later.steps) > 1 and later.steps[-1] - later.steps[0] >= ENOUGH and not communicates(later)


def _of_wrapper(found: Replicas, wrapper: WrapperFacts, index: int) -> SyncGap | None:
    if not wrapper.ran:  # where there are gradients, they came by another way
        return SyncGap.BYPASSED if wrapper.inner_called or found.tensors else None
    synchronised = {step: _synchronises(found, step, found.model.wrapper[index]) for step in found.steps}
    since = _unsynchronised_since(found, index)
    if not any(told for step, told in synchronised.items() if step >= since):
        return SyncGap.NO_SYNC
    if wrapper.inner_called and (found.unshared_gradient(index) or 0) > found.steps[0]:
        return SyncGap.BYPASSED  # it was called first, and no more later
    always = all(synchronised.values())
    return SyncGap.AROUND if always and _keeps_to_itself(found) else None


def _unsynchronised_since(found: Replicas, index: int) -> int:
    """Returns the step from which on a wrapper must never have synchronised: where gradients parted, if that is long.

    A flag that is switched off and not on again lets the first steps go well. Of a few steps at the end of the record
    nothing is known: then none of all may have.
    """
    since = found.unshared_gradient(index) or found.steps[0]
    later = [step for step in found.steps if step >= since]
    return since if len(later) > 1 and later[-1] - since >= ENOUGH else found.steps[0]


def _synchronises(found: Replicas, step: int, number: int) -> bool:
    """Whether this wrapper synchronised in its latest forward pass before a step, on any rank."""
    looks = found.looks[step].values()
    return any(look.wrappers[number - 1].synchronised for look in looks if 0 < number <= len(look.wrappers))


def _works(wrapper: WrapperFacts) -> bool:
    """Whether the wrapper was seen to synchronise."""
    return wrapper.ran and (wrapper.synchronised or bool(wrapper.iterations))

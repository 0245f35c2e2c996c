"""Steps that take longer and longer, by what the program does beside its model and its loader. Pure.

A step that goes over all that was stored so far grows with the run. What counts is the CPU time of the thread that
trains, without its model's, and of each part of the run the quickest steps: a crowded machine slows the others down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from diagnostics.dynamic.steps.steady import RankSteps
from diagnostics.record.step_timings import StepTiming

PARTS = 6  # of the run
LEAST_STEPS = 8  # in each of them
QUICKEST = 25  # one of so many
TIMES = 2.0  # as long in the last part as in the first
FALLS = 0.1  # below the part before, at most
LIKE_BEFORE = 0.4  # what the second half must grow by, of what the first did
OF_STEP = 0.4  # of a late step's CPU time is what it grew by
MORE_THAN_MODEL = 2.0  # as much as the model's own time, where samples get longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """One rank whose own work beside its model grows from step to step. CPU seconds a step."""

    of: RankSteps
    first_s: float  # in the first part
    last_s: float
    step_s: float  # the whole step, in the last part
    lost_s: float  # in all, beyond what the first part took


def slowdown(one: RankSteps) -> Slowdown | None:
    """Returns how a rank's own work grows, None where it does not, or not more than its model's."""
    each = len(one.steps) // PARTS
    if each < LEAST_STEPS:
        return None
    parts = [one.steps[each * at : each * (at + 1)] for at in range(PARTS)]
    own = [_quick(part, _own) for part in parts]
    first, last, grown = own[0], own[-1], own[-1] - own[0]
    step_s = _quick(parts[-1], lambda step: step.cpu_s)
    if grown <= 0 or last < TIMES * first or grown < OF_STEP * step_s or not _goes_on(own):
        return None
    model = [_quick(part, _model) for part in (parts[0], parts[-1])]
    if model[1] > model[0] and MORE_THAN_MODEL * model[1] * first > last * model[0]:
        return None
    lost = sum(max(0.0, at - first) * each for at in own)
    return Slowdown(of=one, first_s=first, last_s=last, step_s=step_s, lost_s=lost)


def _own(step: StepTiming) -> float:
    return max(0.0, step.cpu_s - _model(step))


def _model(step: StepTiming) -> float:
    return step.forward_cpu_s + step.backward_cpu_s


def _quick(steps: Sequence[StepTiming], seconds: Callable[[StepTiming], float]) -> float:
    return sorted(map(seconds, steps))[len(steps) // QUICKEST]


def _goes_on(parts: Sequence[float]) -> bool:
    """Whether it rises all the time, and in the second half as in the first: what fills up once is no slowdown."""
    if any(later < (1 - FALLS) * earlier for earlier, later in pairwise(parts)):
        return False
    middle = PARTS // 2
    before, after = parts[middle - 1] - parts[0], parts[-1] - parts[middle]
    return after >= LIKE_BEFORE * before

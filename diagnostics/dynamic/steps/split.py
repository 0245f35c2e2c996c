"""Each rank's steps taken apart: what it computes, what it waits for, and for how long it had no CPU. Pure.

In backward, what the thread does not compute it waits for the gradients of others, or has no CPU for. That is told of
ranks that compute on the CPU and share gradients by a wrapper; on a device only what held the host up is known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.gradient_sharing import gradient_groups
from diagnostics.dynamic.steps.steady import RankSteps
from diagnostics.record.step_timings import Phase, StepTiming
from diagnostics.record.usage import ProcessUsage

LEAST_LOOKS = 3  # at a process, within its steady steps, to say what it used


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One rank's average step. `delay_s` is None where nobody looked often enough."""

    of: RankSteps
    exposed_s: float  # waiting for other ranks, in calls and at the end of backward
    delay_s: float | None  # its main thread was ready to run and had no CPU
    all_delay_s: float | None  # all its threads together
    cpu_s: float  # of the thread that trains
    waits_in_backward: bool  # what backward() does not compute is counted as waiting

    @property
    def rank(self) -> int:
        """Its rank."""
        return self.of.rank

    @property
    def mean_s(self) -> float:
        """The average step."""
        return self.of.total_s / len(self.of.steps)

    def share(self, phase: Phase) -> float:
        """The part of the average step that a phase is, without what is waiting for others."""
        return self.seconds(phase) / self.mean_s if self.mean_s else 0.0

    def seconds(self, phase: Phase) -> float:
        """Seconds of the average step; the wait at the end of backward counts as collective."""
        if phase is Phase.COLLECTIVE:
            return self.exposed_s
        waited = self.exposed_s - self.of.mean(Phase.COLLECTIVE) if phase is Phase.BACKWARD else 0.0
        return self.of.mean(phase) - waited

    @property
    def exposed(self) -> float:
        """The part of its time in which it waits for others."""
        return self.exposed_s / self.mean_s if self.mean_s else 0.0


def splits(job: Job, ranks: Sequence[RankSteps]) -> tuple[Split, ...]:
    """Returns one a rank."""
    return tuple(_split(job, one, ranks) for one in ranks)


def own_s(one: Split, step: StepTiming) -> float:
    """Returns the part of one step in which a rank did not wait for others."""
    return max(0.0, step.wall_s - waited_s(one, step))


def waited_s(one: Split, step: StepTiming) -> float:
    """Returns the part of one step in which it did."""
    hidden = max(0.0, step.of(Phase.BACKWARD) - step.backward_cpu_s) if one.waits_in_backward else 0.0
    return step.of(Phase.COLLECTIVE) + hidden


def _split(job: Job, one: RankSteps, ranks: Sequence[RankSteps]) -> Split:
    agent = one.process.agent
    on_device = agent is None or agent.timings.on_device
    waits = not on_device and len(ranks) > 1 and any(group.how == "ddp" for group in gradient_groups(one.process))
    shell = Split(of=one, exposed_s=0.0, delay_s=None, all_delay_s=None, cpu_s=0.0, waits_in_backward=waits)
    count = len(one.steps)
    looks = job.usage.processes.get(f"{one.process.pid}-{one.process.start_ticks}", ())
    window = one.window_s(job)
    # The ring of steps may have lost some in between (steps that were left out): the window covers all of them.
    covered = (one.steps[-1].number - one.steps[0].number + 1) or 1
    main, everything = (used(looks, window, name, least=LEAST_LOOKS) for name in ("main_delayed_s", "delayed_s"))
    return Split(
        of=one,
        exposed_s=sum(waited_s(shell, step) for step in one.steps) / count,
        delay_s=main / covered if main is not None else None,
        all_delay_s=everything / covered if everything is not None else None,
        cpu_s=sum(step.cpu_s for step in one.steps) / count,
        waits_in_backward=waits,
    )


def used(looks: Sequence[ProcessUsage], window: tuple[float, float], name: str, *, least: int = 0) -> float | None:
    """Returns by how much a total grew in a time, None where it was not looked at within it, or cannot be read."""
    from_s, to_s = window
    inside = [one for one in looks if from_s <= one.at_s <= to_s]
    if len(inside) < least or any(getattr(one, name) < 0 for one in inside):
        return None
    times, values = [one.at_s for one in looks], [float(getattr(one, name)) for one in looks]
    if not times or times[0] > to_s or times[-1] < from_s:
        return None
    return max(0.0, _at(times, values, to_s) - _at(times, values, from_s))


def _at(times: Sequence[float], values: Sequence[float], at_s: float) -> float:
    place = bisect_right(times, at_s)
    if place == 0:
        return values[0]
    if place == len(times):
        return values[-1]
    before, after = times[place - 1], times[place]
    part = (at_s - before) / (after - before) if after > before else 0.0
    return values[place - 1] + part * (values[place] - values[place - 1])

"""The steps of a run that count: those that all ranks made after the first ones, which warm up. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.step_timings import Phase, StepTiming

FIRST_LEFT_OUT, SHARE_LEFT_OUT = 3, 0.1
LEAST = 10  # steps, to say anything
MOST = 1 << 16  # steps of all ranks together: of a thousand ranks, the latest ones


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSteps:
    """The steady steps of one rank."""

    process: JobProcess
    steps: tuple[StepTiming, ...]

    @property
    def rank(self) -> int:
        """Its rank, 0 where it has none: a job of one process."""
        return self.process.rank if self.process.rank is not None else 0

    @property
    def wall_s(self) -> float:
        """The median step."""
        return median(step.wall_s for step in self.steps)

    @property
    def total_s(self) -> float:
        """All of them together."""
        return sum(step.wall_s for step in self.steps)

    def mean(self, phase: Phase) -> float:
        """Seconds of a phase in a step, on average."""
        return sum(step.of(phase) for step in self.steps) / len(self.steps)

    def window_s(self, job: Job) -> tuple[float, float]:
        """When the first of them began and the last one ended, since the job's start."""
        agent = self.process.agent
        began_s = (agent.started_ns - job.facts.started_ns) / 1e9 if agent is not None else 0.0
        return began_s + self.steps[0].end_s - self.steps[0].wall_s, began_s + self.steps[-1].end_s


def steady_steps(job: Job) -> tuple[RankSteps, ...]:
    """Returns the ranks that train, by rank, with the steps that count; () where there are fewer than LEAST."""
    training = [process for process in _trainers(job) if process.agent is not None and process.agent.timings.steps]
    if not training:
        return ()
    by_number = [_told(process) for process in training]
    common = set.intersection(*(set(told) for told in by_number))
    last = max(common, default=0)
    kept = [number for number in sorted(common) if number > max(FIRST_LEFT_OUT, SHARE_LEFT_OUT * last)]
    kept = _without_rare(kept, by_number)
    if len(kept) < LEAST:
        return ()
    kept = kept[-max(LEAST, MOST // len(training)) :]
    found = (
        RankSteps(process=process, steps=tuple(told[number] for number in kept))
        for process, told in zip(training, by_number, strict=True)
    )
    return tuple(sorted(found, key=lambda one: one.rank))


def _trainers(job: Job) -> Sequence[JobProcess]:
    """Returns the ranks; of a job without a launcher the process that trains."""
    ranks = [process for process in job.ranks if process.steps]
    return ranks or sorted(job.processes, key=lambda process: -process.steps)[:1]


def _told(process: JobProcess) -> dict[int, StepTiming]:
    return {step.number: step for step in process.agent.timings.steps} if process.agent is not None else {}


def _without_rare(numbers: list[int], ranks: Sequence[dict[int, StepTiming]]) -> list[int]:
    """Leaves out steps in which something was compiled or the model evaluated, where most steps do neither."""
    compiled = {
        later.number
        for told in ranks
        for earlier, later in pairwise(sorted(told.values(), key=lambda step: step.number))
        if later.compiles > earlier.compiles
    }
    evaluated = {number for number in numbers if any(told[number].evaluated for told in ranks)}
    for rare in (compiled, evaluated):
        if 2 * len(rare & set(numbers)) < len(numbers):
            numbers = [number for number in numbers if number not in rare]
    return numbers

"""All that the steps of one job tell, asked once. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.steps.contention import Contention, Oversubscription, contention, oversubscription
from diagnostics.dynamic.steps.memory_growth import MemoryGrowth, memory_growth
from diagnostics.dynamic.steps.slowdown import slowdown
from diagnostics.dynamic.steps.split import Split, splits
from diagnostics.dynamic.steps.starvation import Starvation, starvation
from diagnostics.dynamic.steps.steady import steady_steps
from diagnostics.dynamic.steps.straggler import Straggler, straggler

SUSPECT = 0.15  # of a step: from here on it is worth a look at where the time goes


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """One job's steady steps. `splits` is empty where there are too few of them."""

    splits: tuple[Split, ...]
    cpus: Contention
    late: Straggler | None
    starved: Starvation | None
    crowded: Oversubscription | None
    growing: tuple[MemoryGrowth, ...]

    @property
    def on_device(self) -> bool:
        """Whether a device computes: then what the host waits for may cost nothing, and only a person can judge."""
        agents = (one.of.process.agent for one in self.splits)
        return any(agent is not None and agent.timings.on_device for agent in agents)


class _Latest:
    """The latest answer: several signatures ask about one job, one after the other."""

    pair: tuple[Job, StepView] | None = None


def step_view(job: Job) -> StepView:
    """Returns what is known of the steps."""
    known = _Latest.pair
    if known is not None and known[0] is job:
        return known[1]
    view = _view(job)
    _Latest.pair = job, view
    return view


def _view(job: Job) -> StepView:
    ranks = steady_steps(job)
    parts = splits(job, ranks)
    cpus = contention(job, parts)
    return StepView(
        splits=parts,
        cpus=cpus,
        late=straggler(job, parts, cpus),
        starved=starvation(job, parts, cpus),
        crowded=oversubscription(parts, cpus),
        growing=memory_growth(job, ranks),
    )


def suspects(job: Job) -> tuple[JobProcess, ...]:
    """Returns the processes of which it would help to know where they stand.

    These are who is late, who makes its data, and whose steps get slower.
    """
    view = step_view(job)
    found: list[JobProcess] = []
    if view.late is not None and view.late.cost >= SUSPECT:
        found += [view.late.split.of.process, *_workers(job, view.late.split.of.process)[:1]]
    if view.starved is not None and view.starved.cost >= SUSPECT:
        first = view.starved.splits[0].of.process
        found += _workers(job, first)[:1] or [first]
    found += [one.of.process for one in view.splits if slowdown(one.of) is not None][:1]
    return tuple({one.pid: one for one in found}.values())


def _workers(job: Job, rank: JobProcess) -> list[JobProcess]:
    return [one for one in job.children_of(rank) if one.part is ProcessRole.DATA_WORKER and one.end.at_s is None]

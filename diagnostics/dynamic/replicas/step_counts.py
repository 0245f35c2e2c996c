"""Ranks that share their gradients and made unequal numbers of steps. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import lines_like

WRAPPED = "ddp"
_JOINED = re.compile(r"\bJoin\(|\bwith\b.*\.join\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnequalSteps:
    """The ranks, and how many steps each of them made."""

    processes: tuple[JobProcess, ...]
    backwards: int  # the same on all

    @property
    def fewer(self) -> tuple[JobProcess, ...]:
        """Those that made fewer than the most."""
        most = max(process.steps for process in self.processes)
        return tuple(process for process in self.processes if process.steps < most)


def unequal_steps(job: Job) -> UnequalSteps | None:
    """Returns ranks whose backward passes were as many, in the same wrapper, and whose steps were not."""
    ranks = [process for process in job.ranks if process.agent is not None]
    if len(ranks) < 2 or len(ranks) != len(job.ranks) or len({process.steps for process in ranks}) < 2:
        return None
    wrapped = all(process.agent is not None and process.agent.last_event(WRAPPED) is not None for process in ranks)
    backwards = {process.agent.steps.backwards for process in ranks if process.agent is not None}
    if not wrapped or len(backwards) != 1 or not all(_synchronises(process) for process in ranks):
        return None
    if lines_like(job, ranks[0], _JOINED):
        return None  # there a rank that is done takes part in what the others exchange
    return UnequalSteps(processes=tuple(ranks), backwards=backwards.pop())


def _synchronises(process: JobProcess) -> bool:
    """Whether its one optimizer holds nothing but what wrappers synchronise."""
    looks = process.prints.looks
    models = {look.model.optimizer: look.model for look in looks}
    return len(models) == 1 and all(side > 0 for model in models.values() for side in model.wrapper)

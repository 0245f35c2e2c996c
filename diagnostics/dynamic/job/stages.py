"""The trainings of a job that ran one after the other: `torchrun pretrain.py`, then `python finetune.py`. Pure.

`Job.ranks` are those of the last launch. What came before it, and what trained beside it as a plain program that no
launcher started, trained too, and may have trained wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole

MOST_STAGES = 4  # the latest: a sweep starts one program a hundred times


def other_stages(job: Job) -> tuple[Job, ...]:
    """Returns the job as each training saw it that `job.ranks` leave out and that ended well, by time."""
    ranks = {id(one) for one in job.ranks}
    trained = [one for one in job.processes if id(one) not in ranks and _trained_alone(job, one)]
    groups = [
        group for group in _groups(trained) if not any(_together(one, each) for one in group for each in job.ranks)
    ]
    return tuple(_stage(job, group) for group in groups[-MOST_STAGES:] if all(one.end.exit_code == 0 for one in group))


def _trained_alone(job: Job, process: JobProcess) -> bool:
    """Whether a process is a rank of an earlier launch, or a program that trained and that no rank started."""
    if process.part is ProcessRole.RANK:
        return True
    if process.part is not ProcessRole.HELPER or not process.steps:
        return False
    return not any(above.part is ProcessRole.RANK for above in _above(job, process))


def _above(job: Job, process: JobProcess) -> Iterator[JobProcess]:
    seen: set[int] = set()
    above = job.of_pid(process.parent_pid)
    while above is not None and above.pid not in seen:
        seen.add(above.pid)
        yield above
        above = job.of_pid(above.parent_pid)


def _groups(processes: list[JobProcess]) -> list[list[JobProcess]]:
    """Returns those that lived at the same time together."""
    groups: list[list[JobProcess]] = []
    for process in sorted(processes, key=lambda one: one.began_s):
        if groups and any(_together(one, process) for one in groups[-1]):
            groups[-1].append(process)
        else:
            groups.append([process])
    return groups


def _together(one: JobProcess, other: JobProcess) -> bool:
    return one.began_s < _ended_s(other) and other.began_s < _ended_s(one)


def _ended_s(process: JobProcess) -> float:
    return process.end.at_s if process.end.at_s is not None else float("inf")


def _stage(job: Job, group: list[JobProcess]) -> Job:
    """Returns the job with the processes of this training, and those that are of no training."""
    alone = len(group) == 1 and group[0].part is ProcessRole.HELPER
    ranks = (replace(group[0], part=ProcessRole.RANK, rank=0),) if alone else tuple(group)
    last = {one.rank: one for one in ranks if one.rank is not None}
    of_others = {one.pid for one in job.processes if one.part is ProcessRole.RANK} - {one.pid for one in group}
    others = [
        one
        for one in job.processes
        if one.pid not in of_others and one.parent_pid not in of_others and all(one is not each for each in group)
    ]
    return replace(
        job,
        processes=tuple(sorted([*others, *ranks], key=lambda one: one.began_s)),
        ranks=tuple(last[rank] for rank in sorted(last)),
        culprits=(),
        victims=(),
    )

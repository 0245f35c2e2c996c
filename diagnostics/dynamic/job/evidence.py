"""Whose failure it is among all processes of a job, and how it is named, for signatures. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from diagnostics.core.findings import Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.frames import telling_frames
from diagnostics.core.wording import last_lines, shown_ranks, signal_name
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole

# Raised by a parent since a child of it failed: never the cause.
PASSED_ON = re.compile(
    r"(?:^|\.)(?:ProcessRaisedException|ProcessExitedException|ChildFailedError|CalledProcessError|SignalException"
    r"|BrokenProcessPool)$"
)
SHOWN_FRAMES = 8
_ASKED_TO_END = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def primary_failures(job: Job) -> tuple[JobProcess, ...]:
    """Returns the processes that failed by their own doing, by the time of their end.

    The culprits among the ranks where there are some; else any process that nobody ended and that did not only
    pass on the failure of a child. Shells only repeat what they ran, so they are never among them.
    """
    stopped_s = interrupted_s(job)
    if job.culprits:
        return tuple(sorted((one for one in job.culprits if ended_s(one) < stopped_s), key=ended_s))
    own = [
        one
        for one in job.processes
        if one.failed
        and ended_s(one) < stopped_s
        and one.part is not ProcessRole.SHELL
        and one.ended_by in ("", "unknown")
        and not _passes_on(one)
    ]
    rank_like = [one for one in own if one.part is ProcessRole.RANK]
    rest = [one for one in own if one.part is not ProcessRole.DATA_WORKER and one not in rank_like]
    return tuple(sorted(rank_like or _those_that_count(job, rest), key=ended_s))


def interrupted_s(job: Job) -> float:
    """Returns when the user ended the job through the doctor: what fails from then on is nobody's fault."""
    if not job.facts.asked_to_end:
        return float("inf")
    return min((sent.at_s for sent in job.facts.sent if sent.why == job.facts.ended_by), default=float("-inf"))


def _passes_on(process: JobProcess) -> bool:
    return process.uncaught is not None and bool(PASSED_ON.search(process.uncaught.type))


def _those_that_count(job: Job, failed: Sequence[JobProcess]) -> list[JobProcess]:
    """Of launchers and helpers: a helper that fails where its parent goes on by design explains nothing.

    Nor does one that was asked to end when the job was over: a script ends the servers that it started.
    """
    top = [one for one in failed if one.part is ProcessRole.LAUNCHER or _carried_up(job, one)]
    found = top or list(failed)
    acted = [one for one in found if one.part is ProcessRole.LAUNCHER or one.end.signal not in _ASKED_TO_END]
    return [one for one in found if one in acted or ended_s(one) < min(map(ended_s, acted))] if acted else found


def _carried_up(job: Job, process: JobProcess) -> bool:
    """Whether each process above failed too, up to the one the doctor started, and did not start others in between."""
    parent = job.of_pid(process.parent_pid)
    if parent is not None and parent.part is ProcessRole.SHELL:
        later = [one for one in job.children_of(parent) if one.began_s > ended_s(process) and one is not process]
        if any(one.failed for one in later):  # the script's code is that of what it ran last
            return False
    for _ in range(len(job.processes)):
        if parent is None:
            return True
        if not parent.failed:
            return False
        parent = job.of_pid(parent.parent_pid) if parent.parent_pid != parent.pid else None
    return False


def stood_still(job: Job) -> bool:
    """Whether the job made no progress when the doctor or its user ended it, or makes none while it is looked at."""
    stalled = any(stall.over_s is None for stall in job.facts.stalls)
    running = job.facts.ended_s is None
    return job.facts.ended_for_hanging or (stalled and (running or job.facts.asked_to_end))


def ended_s(process: JobProcess) -> float:
    """Seconds from the job's start to this process's end; that of its last exception, or its start, where unknown."""
    if process.end.at_s is not None:
        return process.end.at_s
    return max((one.at_s for one in process.raised), default=process.began_s)


def rank_numbers(processes: Sequence[JobProcess]) -> tuple[int, ...]:
    """Returns the ranks among these processes, sorted."""
    return tuple(sorted({process.rank for process in processes if process.rank is not None}))


def names_of(processes: Sequence[JobProcess]) -> str:
    """Returns "rank 1", "ranks 0, 2", "a data worker of rank 1" or "process 4121 (train.py)"."""
    ranks = rank_numbers(processes)
    if ranks and all(process.part is ProcessRole.DATA_WORKER for process in processes):
        return f"a data worker of {shown_ranks(ranks)}"
    if ranks:
        return shown_ranks(ranks)
    return ", ".join(f"process {process.pid} ({program(process)})" for process in processes[:3]) or "the job"


def program(process: JobProcess) -> str:
    """Returns the name by which a person knows the program: the script where Python runs one."""
    words = [word.rpartition("/")[2] for word in process.argv]
    return next((word for word in words if word.endswith((".py", ".sh"))), words[0] if words else "unknown program")


def how_it_ended(process: JobProcess) -> str:
    """Returns "died of SIGSEGV", "ended with exit code 1" or "ended, nothing tells how"."""
    if process.end.signal is not None:
        return f"died of {signal_name(process.end.signal)}"
    if process.end.exit_code is not None:
        return f"ended with exit code {process.end.exit_code}"
    return "ended, nothing tells how"


def end_evidence(process: JobProcess) -> Evidence:
    """Returns how the process ended as proof, with where that was read."""
    when = f" after {process.end.at_s:.1f} s" if process.end.at_s is not None else ""
    return Evidence(
        source=f"end of process {process.pid} ({process.end.source or 'unknown'})",
        observed=f"{names_of((process,))} {how_it_ended(process)}{when}",
        expected="exit code 0",
    )


def source_evidence(job: Job, frame: Frame) -> tuple[Evidence, ...]:
    """Returns the source lines around a frame as proof, () where the file is not there."""
    lines = job.sources.file(frame.file).around(frame.line)
    return (Evidence(source=job.line(frame), observed="\n".join(lines)),) if lines else ()


def path_evidence(job: Job, source: str, frames: Sequence[Frame]) -> tuple[Evidence, ...]:
    """Returns a call path as proof, innermost first, () for an empty one."""
    telling = telling_frames(frames, job.agent_folders)
    shown = [f"{job.line(frame)} {frame.function}" for frame in telling[:SHOWN_FRAMES]]
    return (Evidence(source=source, observed="\n".join(shown)),) if shown else ()


def output_evidence(process: JobProcess) -> tuple[Evidence, ...]:
    """Returns the last lines a process wrote as proof, () where it wrote nothing."""
    lines = last_lines(process.output)
    return (Evidence(source=f"output of process {process.pid}", observed=lines),) if lines else ()


def written_by(job: Job, process: JobProcess) -> str:
    """Returns what a process wrote, or what its rank wrote where its own could not be told apart.

    All that the job wrote for a process that runs alone, or is the only one at fault.
    """
    tagged = job.output_by_rank.get(process.rank, "") if process.rank is not None else ""
    alone = job.has_one_program or [one.pid for one in job.culprits] == [process.pid]
    return process.output or tagged or (job.output if alone else "")


def module_of(process: JobProcess) -> str:
    """Returns the dotted path of the module that was running when the process failed, its class for the outermost."""
    return process.death.module.shown if process.death is not None and process.death.module is not None else ""

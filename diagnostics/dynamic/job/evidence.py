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


def to_blame(case: Job) -> tuple[JobProcess, ...]:
    """Returns the processes that failed by their own doing, by the time of their end.

    The culprits among the ranks where there are some; else any process that nobody ended and that did not only
    pass on the failure of a child. Shells only repeat what they ran, so they are never among them.
    """
    stopped_s = interrupted_s(case)
    if case.culprits:
        return tuple(sorted((one for one in case.culprits if ended_s(one) < stopped_s), key=ended_s))
    own = [
        one
        for one in case.processes
        if one.failed
        and ended_s(one) < stopped_s
        and one.part is not ProcessRole.SHELL
        and one.ended_by in ("", "unknown")
        and not _passes_on(one)
    ]
    rank_like = [one for one in own if one.part is ProcessRole.RANK]
    rest = [one for one in own if one.part is not ProcessRole.DATA_WORKER and one not in rank_like]
    return tuple(sorted(rank_like or _those_that_count(case, rest), key=ended_s))


def interrupted_s(case: Job) -> float:
    """Returns when the user ended the job through the doctor: what fails from then on is nobody's fault."""
    if case.job.ended_by != "interrupt":
        return float("inf")
    return min((sent.at_s for sent in case.job.sent if sent.why == "interrupt"), default=float("-inf"))


def _passes_on(story: JobProcess) -> bool:
    return story.uncaught is not None and bool(PASSED_ON.search(story.uncaught.type))


def _those_that_count(case: Job, failed: Sequence[JobProcess]) -> list[JobProcess]:
    """Of launchers and helpers: a helper that fails where its parent goes on by design explains nothing.

    Nor does one that was asked to end when the job was over: a script ends the servers that it started.
    """
    top = [one for one in failed if one.part is ProcessRole.LAUNCHER or _carried_up(case, one)]
    found = top or list(failed)
    acted = [one for one in found if one.part is ProcessRole.LAUNCHER or one.end.signal not in _ASKED_TO_END]
    return [one for one in found if one in acted or ended_s(one) < min(map(ended_s, acted))] if acted else found


def _carried_up(case: Job, story: JobProcess) -> bool:
    """Whether each process above failed too, up to the one the doctor started, and did not start others in between."""
    parent = case.of_pid(story.parent_pid)
    if parent is not None and parent.part is ProcessRole.SHELL:
        later = [one for one in case.children_of(parent) if one.began_s > ended_s(story) and one is not story]
        if any(one.failed for one in later):  # the script's code is that of what it ran last
            return False
    for _ in range(len(case.processes)):
        if parent is None:
            return True
        if not parent.failed:
            return False
        parent = case.of_pid(parent.parent_pid) if parent.parent_pid != parent.pid else None
    return False


def stood_still(case: Job) -> bool:
    """Whether the job made no progress when the doctor or its user ended it, or makes none while it is looked at."""
    stalled = any(stall.over_s is None for stall in case.job.stalls)
    running = case.job.ended_s is None
    return case.job.ended_for_hanging or (stalled and (running or case.job.ended_by == "interrupt"))


def ended_s(story: JobProcess) -> float:
    """Seconds from the job's start to this process's end; that of its last exception, or its start, where unknown."""
    if story.end.at_s is not None:
        return story.end.at_s
    return max((one.at_s for one in story.raised), default=story.began_s)


def rank_numbers(stories: Sequence[JobProcess]) -> tuple[int, ...]:
    """Returns the ranks among these processes, sorted."""
    return tuple(sorted({story.rank for story in stories if story.rank is not None}))


def named(stories: Sequence[JobProcess]) -> str:
    """Returns "rank 1", "ranks 0, 2", "a data worker of rank 1" or "process 4121 (train.py)"."""
    ranks = rank_numbers(stories)
    if ranks and all(story.part is ProcessRole.DATA_WORKER for story in stories):
        return f"a data worker of {shown_ranks(ranks)}"
    if ranks:
        return shown_ranks(ranks)
    return ", ".join(f"process {story.pid} ({program(story)})" for story in stories[:3]) or "the job"


def program(story: JobProcess) -> str:
    """Returns the name by which a person knows the program: the script where Python runs one."""
    words = [word.rpartition("/")[2] for word in story.argv]
    return next((word for word in words if word.endswith((".py", ".sh"))), words[0] if words else "unknown program")


def how_it_ended(story: JobProcess) -> str:
    """Returns "died of SIGSEGV", "ended with exit code 1" or "ended, nothing tells how"."""
    if story.end.signal is not None:
        return f"died of {signal_name(story.end.signal)}"
    if story.end.exit_code is not None:
        return f"ended with exit code {story.end.exit_code}"
    return "ended, nothing tells how"


def end_evidence(story: JobProcess) -> Evidence:
    """Returns how the process ended as proof, with where that was read."""
    when = f" after {story.end.at_s:.1f} s" if story.end.at_s is not None else ""
    return Evidence(
        source=f"end of process {story.pid} ({story.end.source or 'unknown'})",
        observed=f"{named((story,))} {how_it_ended(story)}{when}",
        expected="exit code 0",
    )


def source_evidence(case: Job, frame: Frame) -> tuple[Evidence, ...]:
    """Returns the source lines around a frame as proof, () where the file is not there."""
    lines = case.sources.file(frame.file).around(frame.line)
    return (Evidence(source=case.line(frame), observed="\n".join(lines)),) if lines else ()


def path_evidence(case: Job, source: str, frames: Sequence[Frame]) -> tuple[Evidence, ...]:
    """Returns a call path as proof, innermost first, () for an empty one."""
    telling = telling_frames(frames, case.agent_folders)
    shown = [f"{case.line(frame)} {frame.function}" for frame in telling[:SHOWN_FRAMES]]
    return (Evidence(source=source, observed="\n".join(shown)),) if shown else ()


def output_evidence(story: JobProcess) -> tuple[Evidence, ...]:
    """Returns the last lines a process wrote as proof, () where it wrote nothing."""
    lines = last_lines(story.output)
    return (Evidence(source=f"output of process {story.pid}", observed=lines),) if lines else ()


def written_by(case: Job, story: JobProcess) -> str:
    """Returns what a process wrote, or what its rank wrote where its own could not be told apart.

    All that the job wrote for a process that runs alone, or is the only one at fault.
    """
    tagged = case.output_by_rank.get(story.rank, "") if story.rank is not None else ""
    alone = case.has_one_program or [one.pid for one in case.culprits] == [story.pid]
    return story.output or tagged or (case.output if alone else "")


def module_of(story: JobProcess) -> str:
    """Returns the dotted path of the module that was running when the process failed, its class for the outermost."""
    return story.death.module.shown if story.death is not None and story.death.module is not None else ""

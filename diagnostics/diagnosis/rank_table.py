"""What a report says rank by rank: the table, the stacks merged over ranks, and what was captured of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from diagnostics.core.frame import Frame
from diagnostics.core.frames import telling_frames
from diagnostics.core.wording import signal_name
from diagnostics.diagnosis.timeline import ended_in_words, last_collective
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess
from diagnostics.record.record import RunRecord
from diagnostics.record.supervisor_facts import ATTACHED
from diagnostics.report.run_report import Coverage, RankRow, StackGroup

SHOWN_FRAMES = 20
_ISOLATED = re.compile(r"^-[A-Za-z]*[IE]")


def rank_rows(job: Job, culprits: Sequence[int], victims: Sequence[int], host: str) -> tuple[RankRow, ...]:
    """Returns one row a rank, also for ranks that are to blame and never started."""
    rows = [_row(job, process, culprits, victims, host) for process in job.ranks]
    there = {row.rank for row in rows}
    rows += [_never_started(rank) for rank in culprits if rank not in there]
    return tuple(sorted(rows, key=lambda row: row.rank))


def stack_groups(job: Job) -> tuple[StackGroup, ...]:
    """Returns where the ranks stood, equal stacks once: the crash's own stack, a traceback, or a look from outside."""
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for process in job.ranks:
        captured, frames = _stack(job, process)
        if frames and process.rank is not None:
            groups.setdefault((captured, frames), []).append(process.rank)
    return tuple(
        StackGroup(ranks=tuple(ranks), captured=captured, frames=frames) for (captured, frames), ranks in groups.items()
    )


def coverage(job: Job, record: RunRecord) -> Mapping[str, Coverage]:
    """Returns what was and was not captured of each rank, by rank."""
    return {str(process.rank): _coverage(job, process, record) for process in job.ranks}


def _row(job: Job, process: JobProcess, culprits: Sequence[int], victims: Sequence[int], host: str) -> RankRow:
    rank = process.rank if process.rank is not None else -1
    agent = process.agent
    module = process.death.module.shown if process.death is not None and process.death.module is not None else ""
    if not module and agent is not None and agent.entered:
        module = agent.entered[-1].module.shown
    return RankRow(
        rank=rank,
        host=host,
        pid=process.pid,
        exit_code=process.end.exit_code,
        signal=signal_name(process.end.signal) if process.end.signal is not None else None,
        role="culprit" if rank in culprits else "victim" if rank in victims else "",
        ended="runs" if _runs_on(job, process) else ended_in_words(job, process),
        last_step=process.steps if agent is not None and (process.steps or agent.entered) else None,
        last_module=module,
        last_collective=last_collective(process),
        stack=_stack(job, process)[1],
    )


def _runs_on(job: Job, process: JobProcess) -> bool:
    return job.facts.ended_by == ATTACHED and not process.end.source


def _never_started(rank: int) -> RankRow:
    return RankRow(
        rank=rank, host="", pid=None, exit_code=None, signal=None, role="culprit", ended="never started",
        last_step=None, last_module="", last_collective="",
    )  # fmt: skip


def _stack(job: Job, process: JobProcess) -> tuple[str, tuple[str, ...]]:
    """Returns how the process's place was captured, and its frames as "model.py:31 forward", innermost first."""
    frames: Sequence[Frame] = ()
    captured = ""
    ending = [
        one
        for one in process.raised
        if one.how in (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN, ExceptionSource.OUTPUT)
    ]
    if process.fault is not None and process.fault.crashed is not None and process.end.signal is not None:
        captured, frames = "faulthandler", process.fault.crashed.frames
    elif process.failed and ending and ending[-1].path:
        captured, frames = "traceback", ending[-1].path
    elif process.stacks:
        captured, frames = "py-spy", process.stacks[0]
    shown = telling_frames(frames, job.agent_folders)
    return captured, tuple(f"{job.line(frame)} {frame.function}" for frame in shown[:SHOWN_FRAMES])


def _coverage(job: Job, process: JobProcess, record: RunRecord) -> Coverage:
    agent = process.agent
    hooks = agent.last_event("hooks") if agent is not None else None
    core = any(name.startswith(f"core-{process.pid}.") for name in record.captures)
    crashed = process.end.signal is not None and process.ended_by == ""
    attached = job.facts.ended_by == ATTACHED
    missing = []
    if agent is None:
        missing.append(f"no agent: {_why_no_agent(process, record, attached=attached)}")
    else:
        missing += agent.problems
        if agent.dropped_events:
            missing.append(f"{agent.dropped_events} events found no room in the agent's file")
        if off := agent.last_event("faulthandler"):
            missing.append(f"no faulthandler of ours: {off.text}")
        if no_area := agent.last_event("no-modules-area"):
            missing.append(f"no names of modules: {no_area.text}")
    if crashed and process.fault is None and agent is not None:
        missing.append("no stack of the crash: faulthandler wrote none")
    if not process.end.source and not attached:
        missing.append("its end is unknown")
    return Coverage(
        agent=agent is not None,
        faulthandler=process.fault is not None,
        stacks=bool(process.stacks),
        flight_recorder=any(name.startswith(f"flight-{process.pid}-") for name in record.flights),
        core=core,
        hooks=tuple(hooks.text.split()) if hooks is not None else (),
        missing=tuple(missing),
    )


def _why_no_agent(process: JobProcess, record: RunRecord, *, attached: bool) -> str:
    for option in process.argv[1:4]:
        if _ISOLATED.match(option):
            return f"python {option} ignores the variables that bring it in"
    if attached:
        return "the job was started without the doctor"
    stem = f"agent-{process.pid}-"
    reasons = [one.reason for one in record.unreadable if one.name.startswith(stem)]
    if reasons:
        return reasons[0]
    return (
        "the variables that bring it in did not reach the process (UPS_DOCTOR_OFF, env -i, a reset PYTHONPATH), "
        "or its user may not write into record/agents"
    )

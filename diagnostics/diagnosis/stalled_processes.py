"""What a report says of each process of a job that stood still: where it was, what it waited for, what it used."""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.job.evidence import program
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.observations import observations_of
from diagnostics.dynamic.stall.rank_activity import RankPosition, rank_positions
from diagnostics.dynamic.stall.stall_evidence import looks_words
from diagnostics.dynamic.stall.wait_chain import below, is_idle, stack_of, wait_chain
from diagnostics.report.run_report import StandingRow

MOST = 64  # processes, ranks first
_WORDS = {
    Whereabouts.WAITING: "waits for its peers",
    Whereabouts.LEAVING: "is on its way out",
    Whereabouts.ENDED: "had ended",
    Whereabouts.ABSENT: "never came",
    Whereabouts.UNKNOWN: "nothing tells where it stands",
}


def stalled_rows(job: Job, outcome: JobOutcome) -> tuple[StandingRow, ...]:
    """Returns one row a process of a job that hung: ranks, each followed by what it started; () of other jobs."""
    if outcome is not JobOutcome.HANG:
        return ()
    rows = []
    for standing in rank_positions(job)[:MOST]:
        rows.append(_rank_row(job, standing))
        if standing.stand is not Whereabouts.ENDED:
            rows += [_child_row(job, one) for one in below(job, standing.process) if _was_there(job, one)]
    return tuple(rows[:MOST])


def _rank_row(job: Job, standing: RankPosition) -> StandingRow:
    process = standing.process
    does = standing.reason.text if standing.reason is not None else _WORDS.get(standing.stand, standing.stand.value)
    if standing.stand is Whereabouts.WAITING:
        does += f" in {_waits_in(standing)}"
    place = job.line(standing.own[0]) if standing.own else ""
    return StandingRow(who=f"rank {process.rank}", pid=process.pid, place=place, does=does, looks=_looks(job, process))


def _waits_in(standing: RankPosition) -> str:
    """Returns the collective that a rank waits in, or the torch function where only C++ knows."""
    calls = standing.process.agent.collectives if standing.process.agent is not None else ()
    if calls and calls[-1].left_s is None:
        return calls[-1].op
    inner = standing.stack[0].function if standing.stack else ""
    return "a backward pass" if "backward" in inner else inner or "a collective"


def _child_row(job: Job, process: JobProcess) -> StandingRow:
    stack = stack_of(job, process)
    worker = process.part is ProcessRole.DATA_WORKER
    who = f"its data worker {process.pid}" if worker else f"its process {process.pid} ({program(process)})"
    if worker and is_idle(stack):
        return StandingRow(who=who, pid=process.pid, place="", does="waits for work", looks=_looks(job, process))
    own = user_frames(stack, agent_folder=process.agent_folder)
    reason = wait_chain(job, process, stack)
    place = job.line(own[0]) if own else ""
    return StandingRow(who=who, pid=process.pid, place=place, does=reason.text, looks=_looks(job, process))


def _was_there(job: Job, process: JobProcess) -> bool:
    return bool(process.stacks or observations_of(job, process).samples)


def _looks(job: Job, process: JobProcess) -> str:
    return looks_words(observations_of(job, process))

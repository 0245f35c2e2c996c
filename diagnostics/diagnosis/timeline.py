"""The timeline of a report: the last telling events and the end of each process, in one order."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.evidence import how_it_ended, program
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.record.agent_data import AgentData, CollectiveCall, LifecycleEvent
from diagnostics.report.run_report import TimelineEntry

EACH = 12  # events of a rank
MOST_PROCESSES = 200  # ranks first; a job may fork a thousand times
MAX_TEXT = 200
DULL = {
    "hooks", "exit", "faulthandler", "child", "atexit", "thread", "gradient-group", "trained-shapes", "device-mesh",
    "worker-random", "model-parallel",
}  # fmt: skip
ENDERS = {"doctor": "ended by the doctor", "launcher": "ended by its launcher", "unknown": "ended from outside"}
WORDS = {
    "exception": "raised", "thread-exception": "raised in a thread", "unraisable": "raised in a destructor",
    "caught": "caught", "kill": "sent a signal", "child-end": "a child ended", "phase": "phase", "ddp": "made",
    "process-group": "process group made", "process-group-begin": "makes a process group",
    "process-group-end": "process group ended", "process-group-end-begin": "ends its process group",
    "ddp-begin": "makes", "optimizer": "made optimizer", "dataloader": "made", "sampler": "made",
    "alive-at-end": "waits for a thread", "load-failed": "could not load",
    "save-failed": "could not save",
}  # fmt: skip


def timeline(job: Job) -> tuple[TimelineEntry, ...]:
    """Returns the events by time: of each rank the last dozen, of the other processes start, failures and end."""
    order = sorted(
        job.processes, key=lambda process: (process.part is not ProcessRole.RANK, not process.failed, process.began_s)
    )
    entries = [entry for process in order[:MOST_PROCESSES] for entry in _of_process(job, process)]
    return tuple(sorted(entries, key=lambda entry: entry.at_s))


def ended_in_words(job: Job, process: JobProcess) -> str:
    """Returns "died of SIGSEGV after 3.2 s", "ended by its launcher (died of SIGTERM)"."""
    how = how_it_ended(process)
    if process.ended_by.startswith("pid "):
        how = f"ended by process {process.ended_by[4:]} of the job ({how})"
    elif process.ended_by:
        asked = process.ended_by == "doctor" and job.facts.ended_by == "interrupt"  # the doctor only passed it on
        how = f"{'interrupted' if asked else ENDERS[process.ended_by]} ({how})"
    return f"{how} after {process.end.at_s:.1f} s" if process.end.at_s is not None else how


def last_collective(process: JobProcess) -> str:
    """Returns "all_reduce #17", with " (waiting)" where it never returned; "" where there was none."""
    calls = process.agent.collectives if process.agent is not None else ()
    if not calls:
        return ""
    waiting = " (waiting)" if calls[-1].left_s is None else ""
    return f"{_collective(calls[-1])}{waiting}"


def _of_process(job: Job, process: JobProcess) -> Iterator[TimelineEntry]:
    if process.part is not ProcessRole.RANK:
        yield TimelineEntry(
            at_s=process.began_s, rank=None, pid=process.pid, what=f"started: {process.part} {program(process)}"
        )
    telling = _telling(job, process, process.agent) if process.agent is not None else []
    yield from telling[-EACH if process.part is ProcessRole.RANK else -4 :]
    known = process.end.exit_code is not None or process.end.signal is not None
    if known and process.end.at_s is not None and not (process.part is ProcessRole.HELPER and not process.failed):
        place = process.death.location if process.death is not None else ""
        what = ended_in_words(job, process).rpartition(" after ")[0]
        yield TimelineEntry(at_s=process.end.at_s, rank=_rank(process), pid=process.pid, what=what, location=place)


def _telling(job: Job, process: JobProcess, agent: AgentData) -> list[TimelineEntry]:
    done = {event.kind for event in agent.events}
    calls = [(call.sequence, _call_entry(job, process, agent, call)) for call in agent.collectives[-EACH:]]
    events = [
        (event.sequence, _event_entry(job, process, agent, event))
        for event in agent.events
        if _is_telling(event) and event.kind.removesuffix("-begin") not in done - {event.kind}
    ]
    entries = [entry for _, entry in sorted([*calls, *events], key=lambda pair: pair[0])]
    if agent.steps.count and agent.steps.last_s is not None:
        step = TimelineEntry(
            at_s=job_time(job.facts, agent, agent.steps.last_s),
            rank=_rank(process),
            pid=process.pid,
            what=f"optimizer step {agent.steps.count}",
        )
        entries = sorted([*entries, step], key=lambda entry: entry.at_s)
    return entries


def _is_telling(event: LifecycleEvent) -> bool:
    if event.kind in DULL:
        return False
    return event.kind != "child-end" or "code=0" not in event.text.split()


# An exception that was seen on its way and not where it ended.
_RAISED = {
    "spawn": "raised",
    "worker": "raised",
    "forward": "raised in a forward pass",
    "held": "made a collective while it handled",
}


def _event_entry(job: Job, process: JobProcess, agent: AgentData, event: LifecycleEvent) -> TimelineEntry:
    frames = user_frames(event.path, agent_folder=agent.agent_folder)
    word, text = WORDS.get(event.kind, event.kind), event.text
    if event.kind in ("sys.exit", "os._exit"):
        text = str(event.value)
    elif event.kind == "caught":
        how, _, text = text.partition(" | ")
        how = how.removeprefix("how=")
        word = _RAISED.get(how, word if how == "caught" else f"{word} and {how}")
    return TimelineEntry(
        at_s=job_time(job.facts, agent, event.seconds),
        rank=_rank(process),
        pid=process.pid,
        what=" ".join(f"{word} {text}".split())[:MAX_TEXT],
        location=job.line(frames[0]) if frames else "",
    )


def _call_entry(job: Job, process: JobProcess, agent: AgentData, call: CollectiveCall) -> TimelineEntry:
    frames = user_frames(call.path, agent_folder=agent.agent_folder)
    return TimelineEntry(
        at_s=job_time(job.facts, agent, call.entered_s),
        rank=_rank(process),
        pid=process.pid,
        what=f"{'waits in' if call.left_s is None else 'did'} {_collective(call)}",
        location=job.line(frames[0]) if frames else "",
    )


def _collective(call: CollectiveCall) -> str:
    return f"{call.op} #{call.number}" if call.number >= 0 else call.op


def _rank(process: JobProcess) -> int | None:
    return process.rank if process.part is ProcessRole.RANK else None

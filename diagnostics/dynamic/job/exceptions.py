"""The exceptions of one process, from its agent's events and from the tracebacks in what it wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, LoadFailure
from diagnostics.dynamic.job.process_list import MergedProcess, job_time, words
from diagnostics.record.agent_data import LifecycleEvent
from diagnostics.record.stacks import AgentStacks
from diagnostics.record.supervisor_facts import SupervisorFacts
from diagnostics.record.tracebacks import TracebackText, tracebacks

_KINDS = {
    "exception": ExceptionSource.UNCAUGHT,
    "thread-exception": ExceptionSource.THREAD,
    "unraisable": ExceptionSource.UNRAISABLE,
}
_CAUGHT = {
    "spawn": ExceptionSource.SPAWN,
    "worker": ExceptionSource.WORKER,
    "logged": ExceptionSource.LOGGED,
    "printed": ExceptionSource.PRINTED,
    "caught": ExceptionSource.CAUGHT,
    "unasked": ExceptionSource.UNASKED,
    "forward": ExceptionSource.FORWARD,
    "held": ExceptionSource.HELD,
}
_TYPE = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})(?::\s?(?P<message>.*))?\Z", re.DOTALL)
ORDER_S = 1e-6  # what a cause is dated before its effect


def exceptions_of(
    process: MergedProcess,
    job: SupervisorFacts,
    output: str,
    ended_s: float | None,
    *,
    failed: bool,
    homes: Homes = NOWHERE,
) -> tuple[ExceptionRecord, ...]:
    """Returns its exceptions by time; causes that only its output tells stand before what they led to.

    A traceback in the output of a process that no agent watched, and that failed, is taken for what ended it.
    """
    seen = [one for event in process.events if (one := _from_event(event, process, job)) is not None]
    final = next((one for one in reversed(seen) if one.how in (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN)), None)
    if not failed:
        return tuple(sorted(seen, key=lambda one: (one.at_s, one.sequence)))
    read = tracebacks(output, homes)
    if final is not None:
        same = [one for one in read if _same(one, final)]
        seen += causes_of(same[-1], final.at_s, seen) if same else []
    elif read:
        at = ended_s if ended_s is not None else process.began_s
        seen += [*causes_of(read[-1], at, seen), from_traceback(read[-1], at)]
    return tuple(sorted(seen, key=lambda one: (one.at_s, one.sequence)))


def handled_of(threads: AgentStacks | None, agent_folder: str) -> tuple[ExceptionRecord, ...]:
    """Returns the exception that the main thread was handling when its process was asked; when it came is not known."""
    error = threads.handles if threads is not None else None
    if error is None:
        return ()
    kind, message = split_error(error.text)
    own = user_frames(error.frames, agent_folder=agent_folder)
    return (
        ExceptionRecord(
            how=ExceptionSource.HELD, at_s=0.0, type=kind, message=message, path=error.frames, user_path=own
        ),
    )


def loads_of(process: MergedProcess, job: SupervisorFacts) -> tuple[LoadFailure, ...]:
    """Returns the files it could not load or save."""
    found = []
    for event in process.events:
        if event.kind not in ("load-failed", "save-failed") or process.agent is None:
            continue
        parts = event.text.split(" | ", 2)
        found.append(
            LoadFailure(
                at_s=job_time(job, process.agent, event.seconds),
                function=words(event.text).get("function", ""),
                file=parts[1].strip() if len(parts) > 1 else "",
                error=parts[2].strip() if len(parts) > 2 else "",
                path=event.path,
            )
        )
    return tuple(found)


def from_traceback(traceback: TracebackText, at: float) -> ExceptionRecord:
    """Returns an exception that only the output tells of."""
    return ExceptionRecord(
        how=ExceptionSource.OUTPUT,
        at_s=at,
        type=traceback.type,
        message=traceback.message,
        path=traceback.frames,
        user_path=user_frames(traceback.frames),
    )


def split_error(text: str) -> tuple[str, str]:
    """Returns type and message of "ValueError: no such thing"."""
    found = _TYPE.match(text)
    return (found["type"], found["message"] or "") if found else ("", text)


def _from_event(event: LifecycleEvent, process: MergedProcess, job: SupervisorFacts) -> ExceptionRecord | None:
    agent, text = process.agent, event.text
    how = _KINDS.get(event.kind)
    if event.kind == "caught":
        head, _, text = event.text.partition(" | ")
        how = _CAUGHT.get(words(head).get("how", ""), ExceptionSource.CAUGHT)
    if how is None or agent is None:
        return None
    kind, message = split_error(text)
    return ExceptionRecord(
        how=how,
        at_s=job_time(job, agent, event.seconds),
        type=kind,
        message=message,
        path=event.path,
        user_path=user_frames(event.path, agent_folder=agent.agent_folder),
        thread=event.thread,
        sequence=event.sequence,
    )


def _same(read: TracebackText, raised: ExceptionRecord) -> bool:
    first = raised.message.partition("\n")[0][:200]
    return read.type.rpartition(".")[2] == raised.type.rpartition(".")[2] and read.message.startswith(first)


def causes_of(last: TracebackText, at: float, known: Sequence[ExceptionRecord]) -> list[ExceptionRecord]:
    """Returns the chained exceptions before the last one, the first cause first, without those known."""
    causes = []
    earlier = last.earlier
    while earlier is not None:
        causes.append(earlier)
        earlier = earlier.earlier
    return [
        from_traceback(cause, at - ORDER_S * (index + 1))
        for index, cause in reversed(list(enumerate(causes)))
        if not any(_same(cause, one) for one in known)
    ]

"""An exception ended a thread, and the rank that needed it went on without it.

What it does: where a rank hung, failed while it waited for something (queue.Empty, a timeout), left, or made fewer
steps than another, and a thread of it died of an exception before, that thread's line is the cause.

Why it matters: threading prints the traceback long before the end, and the rank's own error names the waiting line.

Fix: hand the exception to the main thread (a Future, or a sentinel in the queue), and correct the line.
"""

from __future__ import annotations

import ast
import re

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.frames import is_installed
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed, natural_outcome
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, of_raised, origin
from diagnostics.dynamic.job.evidence import end_evidence, named, path_evidence, source_evidence, stood_still
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole

CODE = "D250"
NAME = "thread-dies"
CLASS = "thread-exception"
EXAMINES = AppliesTo.ANY

# What a main thread says that waited in vain for another one.
_WAITED = re.compile(
    r"(?:^|\.)(?:Empty|Full|TimeoutError|BrokenBarrierError|InvalidStateError|ShutDown)$"
    r"|(?i:thread|worker|prefetch|producer)"
)
_LOST = re.compile(r"(?:Connection(?:Reset|Refused|Aborted)|BrokenPipe|EOF)Error$")  # a peer's end, no cause


def match(case: Job) -> Match | None:
    """Returns the first thread of a rank that died of an exception and was missed."""
    found = []
    for story in case.ranks:
        for raised in story.raised:
            own = [frame for frame in raised.user_path if not is_installed(frame)]
            if raised.how is ExceptionSource.THREAD and own and not _LOST.search(raised.type):
                cost = _cost(case, story, raised)
                if cost:
                    found.append((raised.at_s, story, raised, cost))
    if not found:
        return None
    _, story, raised, cost = min(found, key=lambda one: one[0])
    error = of_raised(case, story, raised)
    after = origin(case, story)
    waited = [case.line(frame) for frame in after.frames[:1]] if after is not None else []
    locations = distinct([*locations_of(case, error), *waited])
    return blamed(
        case,
        [story],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"A thread of {named([story])} died at {locations[0]} of {raised.text[:300]}; {cost}",
        evidence=[
            *path_evidence(case, f"exception in a thread of process {story.pid}: {raised.text[:300]}", error.frames),
            *(source_evidence(case, error.frame) if error.frame is not None else ()),
            end_evidence(story),
        ],
        fix=Fix(text=f"correct {locations[0]}, and hand a thread's exception to the main thread so that nobody waits"),
        locations=locations,
        confidence=Confidence.CONFIRMED if after is not None else Confidence.LIKELY,
        outcome=natural_outcome(case) if case.failed or stood_still(case) else JobOutcome.SILENT_WRONG,
        explains=_waiting(case, story),
        began_s=raised.at_s,
    )


def _cost(case: Job, story: JobProcess, raised: ExceptionRecord) -> str:
    """Returns what the thread's end cost, in words; "" where nothing shows that it was missed."""
    if any(one.how is ExceptionSource.UNCAUGHT and one.at_s < raised.at_s for one in story.raised):
        return ""  # it died since the program was ending
    if stood_still(case):
        stalled = min((stall.began_s for stall in case.job.stalls if stall.over_s is None), default=float("inf"))
        return "its rank waits for ever" if raised.at_s <= stalled + 5 and not _failed_first(case, story) else ""
    after = origin(case, story)
    if after is not None:
        return f"its rank failed later: {sentence(after.text[:120])}" if _led_to(case, raised, after) else ""
    if story.failed and story.end.signal is None and story.ended_by == "":
        return f"its rank left with exit code {story.end.exit_code}"
    most = max((one.steps for one in case.ranks), default=0)
    if not case.failed and story.steps < most:
        return f"its rank made {story.steps} optimizer steps, another one {most}"
    optimizer = story.agent is not None and story.agent.last_event("optimizer") is not None
    if not case.failed and most == 0 and optimizer and story.agent is not None and not story.agent.steps.backwards:
        return "no rank made an optimizer step"
    if not case.failed and _fills_a_queue(case, raised):
        return f"what it was to hand over is missing, and the job says success after {story.steps} optimizer steps"
    return ""


def _fills_a_queue(case: Job, raised: ExceptionRecord) -> bool:
    """Whether a function on the thread's path puts things into a queue: its reader took the silence for the end."""
    for frame in raised.user_path:
        function = case.sources.file(frame.file).function_at(frame.line)
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "put":
                return True
    return False


def _failed_first(case: Job, story: JobProcess) -> bool:
    """Whether another rank failed by itself, which explains the wait better."""
    return any(one.failed and one.pid != story.pid and one.ended_by == "" for one in case.culprits)


def _led_to(case: Job, raised: ExceptionRecord, after: RootException) -> bool:
    """Whether the rank's own exception is that of one who waited for the thread, or repeats the thread's."""
    same = bool(raised.message) and raised.message in after.message
    return raised.at_s <= after.at_s and (same or bool(_WAITED.search(after.type) or _WAITED.search(after.message)))


def _waiting(case: Job, story: JobProcess) -> list[int]:
    """Of the same rank all processes; what else the others say, they say since this one stopped."""
    own = [
        one
        for one in case.processes
        if one.rank == story.rank and one.part in (ProcessRole.RANK, ProcessRole.DATA_WORKER)
    ]
    return [one.pid for one in own]

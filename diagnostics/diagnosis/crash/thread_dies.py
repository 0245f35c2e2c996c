"""An exception ended a thread, and the rank that needed it went on without it.

What it does: where a rank hung, failed while it waited for something (queue.Empty, a timeout) or on what the thread
was to leave (None out of its queue), left, or made fewer steps than another, and a thread of it died of an exception
before, that thread's line is the cause. So it is where the thread logged the exception and left None
for its work, where the rank goes on to fill the queue that the thread emptied, and where one thread after the other
ended so in a job that says success.

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
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, of_raised, root_exception
from diagnostics.dynamic.failures.thread_consumers import is_given_work_in_vain
from diagnostics.dynamic.failures.thread_products import answers_what_is_missing, fails_on_products
from diagnostics.dynamic.failures.training_code import CONTROL, ends_training
from diagnostics.dynamic.job.evidence import end_evidence, names_of, path_evidence, source_evidence, stood_still
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_list import job_time

CODE = "D250"
NAME = "thread-dies"
CLASS = "thread-exception"
EXAMINES = AppliesTo.ANY

# What a main thread says that waited in vain for another one.
_WAITED = re.compile(
    r"(?:^|\.)(?:Empty|Full|TimeoutError|BrokenBarrierError|InvalidStateError|ShutDown)$"
    r"|(?i:thread|worker|prefetch|producer)"
)
_TOLD = (ExceptionSource.LOGGED, ExceptionSource.PRINTED, ExceptionSource.CAUGHT)
LEAST_ALIKE = 2
_LOST = re.compile(r"(?:Connection(?:Reset|Refused|Aborted)|BrokenPipe|EOF)Error$")  # a peer's end, no cause


def match(job: Job) -> Match | None:
    """Returns the first thread of a rank that died of an exception and was missed."""
    found = []
    for process in job.ranks:
        for raised in process.raised:
            own = [frame for frame in raised.user_path if not is_installed(frame)]
            if own and not _LOST.search(raised.type):
                cost = _cost(job, process, raised) if raised.how is ExceptionSource.THREAD else ""
                if raised.how in _TOLD and raised.thread not in (0, process.pid):  # the thread caught it, and left
                    cost = _failed_on(job, process, raised)
                if cost:
                    found.append((raised.at_s, process, raised, cost))
    if not found:
        return None
    _, process, raised, cost = min(found, key=lambda one: one[0])
    error = of_raised(job, process, raised)
    after = root_exception(job, process)
    waited = [job.line(frame) for frame in after.frames[:1]] if after is not None else []
    locations = distinct([*locations_of(job, error), *waited])
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"A thread of {names_of([process])} died at {locations[0]} of {raised.text[:300]}; {cost}",
        evidence=[
            *path_evidence(job, f"exception in a thread of process {process.pid}: {raised.text[:300]}", error.frames),
            *(source_evidence(job, error.frame) if error.frame is not None else ()),
            end_evidence(process),
        ],
        fix=Fix(text=f"correct {locations[0]}, and hand a thread's exception to the main thread so that nobody waits"),
        locations=locations,
        confidence=Confidence.CONFIRMED if after is not None else Confidence.LIKELY,
        outcome=natural_outcome(job) if job.failed or stood_still(job) else JobOutcome.SILENT_WRONG,
        explains=_waiting(job, process),
        began_s=raised.at_s,
    )


def _cost(job: Job, process: JobProcess, raised: ExceptionRecord) -> str:
    """Returns what the thread's end cost, in words; "" where nothing shows that it was missed."""
    if any(one.how is ExceptionSource.UNCAUGHT and one.at_s < raised.at_s for one in process.raised):
        return ""  # it died since the program was ending
    if stood_still(job):
        stalled = min((stall.began_s for stall in job.facts.stalls if stall.over_s is None), default=float("inf"))
        return "its rank waits for ever" if raised.at_s <= stalled + 5 and not _failed_first(job, process) else ""
    after = root_exception(job, process)
    if after is not None:
        waited = f"its rank failed later: {sentence(after.text[:120])}" if _led_to(raised, after) else ""
        return waited or _failed_on(job, process, raised)
    if process.failed and process.end.signal is None and process.ended_by == "":
        return f"its rank left with exit code {process.end.exit_code}"
    most = max((one.steps for one in job.ranks), default=0)
    if not job.failed and process.steps < most:
        return f"its rank made {process.steps} optimizer steps, another one {most}"
    optimizer = process.agent is not None and process.agent.last_event("optimizer") is not None
    if not job.failed and most == 0 and optimizer and process.agent is not None and not process.agent.steps.backwards:
        return "no rank made an optimizer step"
    by_design = bool(CONTROL.search(raised.type))
    if not (job.failed or by_design or _trained_on(job, process, raised)) and ends_training(job, process, raised):
        return f"its training loop ended there, and the job says success after {process.steps} optimizer steps"
    if not job.failed and _fills_a_queue(job, raised) and not answers_what_is_missing(job, process, raised):
        return f"what it was to hand over is missing, and the job says success after {process.steps} optimizer steps"
    trained_on = not (job.failed or by_design) and _trained_on(job, process, raised)
    if trained_on and is_given_work_in_vain(job, process, raised):
        return f"what it was given from then on is lost, and the job says success after {process.steps} optimizer steps"
    alike = _died_alike(process, raised) if trained_on else 0
    if alike >= LEAST_ALIKE:
        return f"so did {alike} threads with that work, one after the other, and the job says success"
    return ""


def _died_alike(process: JobProcess, raised: ExceptionRecord) -> int:
    """Returns how many threads of a rank ended at that line by that error: one may be begun anew, all of them are not.

    A thread for each checkpoint, each upload: whoever joins them is told nothing of how they ended.
    """
    alike = [
        one.thread
        for one in process.raised
        if one.how is ExceptionSource.THREAD and one.type == raised.type and one.user_path == raised.user_path
    ]
    return len(set(alike))


def _trained_on(job: Job, process: JobProcess, raised: ExceptionRecord) -> bool:
    """Whether an optimizer step was made after a thread's end: what it had begun may have been begun anew."""
    last_s = process.agent.steps.last_s if process.agent is not None else None
    return process.agent is not None and last_s is not None and job_time(job.facts, process.agent, last_s) > raised.at_s


def _fills_a_queue(job: Job, raised: ExceptionRecord) -> bool:
    """Whether a function on the thread's path puts things into a queue: its reader took the silence for the end."""
    for frame in raised.user_path:
        function = job.sources.file(frame.file).function_at(frame.line)
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "put":
                return True
    return False


def _failed_first(job: Job, process: JobProcess) -> bool:
    """Whether another rank failed by itself, which explains the wait better."""
    return any(one.failed and one.pid != process.pid and one.ended_by == "" for one in job.culprits)


def _failed_on(job: Job, process: JobProcess, raised: ExceptionRecord) -> str:
    """Returns that the rank failed on what its thread was to leave, in words; "" where they do not meet."""
    after = root_exception(job, process)
    if after is None or raised.at_s > after.at_s or not fails_on_products(job, process, raised, after.frames):
        return ""
    return f"its rank failed on what that thread was to leave: {sentence(after.text[:120])}"


def _led_to(raised: ExceptionRecord, after: RootException) -> bool:
    """Whether the rank's own exception is that of one who waited for the thread, or repeats the thread's."""
    same = bool(raised.message) and raised.message in after.message
    return raised.at_s <= after.at_s and (same or bool(_WAITED.search(after.type) or _WAITED.search(after.message)))


def _waiting(job: Job, process: JobProcess) -> list[int]:
    """Of the same rank all processes; what else the others say, they say since this one stopped."""
    own = [
        one
        for one in job.processes
        if one.rank == process.rank and one.part in (ProcessRole.RANK, ProcessRole.DATA_WORKER)
    ]
    return [one.pid for one in own]

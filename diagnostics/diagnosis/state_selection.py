"""Which state of a job its verdict is about: before the first signal, while it stood still, or at its end. Pure.

What a job does once it was asked to end is teardown: it moves, raises KeyboardInterrupt, runs its exit handlers, and
its ranks lose each other. None of that tells why it stood still. So:

- where the doctor sent the first signal (Ctrl-C and the like passed on, --stall-timeout, a deadlock), the state before
  it is the evidence, and nothing after;
- where somebody else ended a job that stood still, the state in which it was told to stand still is;
- where it ended by itself, all of it is, unless what was seen while it stood still is better founded.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.wording import signal_name
from diagnostics.diagnosis.verdict import Diagnosis
from diagnostics.dynamic.job.attribution import INTERRUPTED
from diagnostics.dynamic.job.evidence import stood_still
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.record.supervisor_facts import ABORTED, MEASURED
from diagnostics.report.headline import class_and_ranks
from diagnostics.report.run_report import NO_CLASS

TEARDOWN_S = 30.0  # batch systems give as long between SIGTERM and SIGKILL
_BY_SIGNAL = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL, signal.SIGXCPU)
_ENDED_BY_TIMEOUT = 124  # what timeout(1) says
ENDED_FROM_OUTSIDE = (
    "the job was ended from outside while it stood still; the verdict is about the job before that, "
    "what it did then is its teardown"
)
_KERNELS = ("killed-by-oom-killer",)  # classes in which the kernel itself says who sent the signal, and why


class Foundation(IntEnum):
    """How well a verdict is founded; one takes the place of another only where it is better founded."""

    NOTHING = 0
    POSSIBLE = 1
    LIKELY = 2
    CONFIRMED = 3
    PROVED = 4  # a deadlock: no length of time would have ended it


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWord:
    """The verdict and the state of the job that it is about, `stopped` where somebody asked that state to end."""

    decision: Diagnosis
    state: Job
    stopped: bool = False


def last_word(job: Job, before: Job | None, decide_on: Callable[[Job, bool], Diagnosis]) -> LastWord:
    """Returns the verdict about an ended job. `before` is its state before the first signal, where that was kept.

    `decide_on(job, running)` asks the signatures.
    """
    if before is None:
        return LastWord(decision=decide_on(job, False), state=job)
    if _doctor_asked(job):
        state = _with_reason(before, job)
        return LastWord(decision=_of_stopped(job, state, decide_on(state, True)), state=state, stopped=True)
    whole = LastWord(decision=decide_on(job, False), state=job)
    if not stood_still(before) or _went_on(job, before):
        return whole
    then = decide_on(before, True)
    if then.outcome is not JobOutcome.HANG:
        return whole
    if ended_from_outside(job) and whole.decision.failure_class not in _KERNELS:
        return LastWord(decision=_noted(then, ENDED_FROM_OUTSIDE), state=before, stopped=True)
    if foundation(then, before) > foundation(whole.decision, job) and whole.decision.outcome is not JobOutcome.OK:
        kept = f"the job ended by itself after that: {_words(whole.decision)}, which is less well founded"
        return LastWord(decision=_noted(then, kept), state=before)
    if _words(then) == _words(whole.decision):
        return whole
    said = f"while the job stood still the provisional report said {_words(then)}; what came after that tells more"
    return replace(whole, decision=_noted(whole.decision, said))


def foundation(decision: Diagnosis, job: Job) -> Foundation:
    """Returns how well a verdict about a case is founded."""
    if decision.first is None:
        return Foundation.NOTHING
    if job.facts.proved and decision.first.finding.code.startswith("D3"):
        return Foundation.PROVED
    return {
        Confidence.CONFIRMED: Foundation.CONFIRMED,
        Confidence.LIKELY: Foundation.LIKELY,
        Confidence.POSSIBLE: Foundation.POSSIBLE,
    }[decision.first.finding.confidence]


def ended_from_outside(job: Job) -> bool:
    """Whether a job that the doctor sent nothing was ended by a signal that no part of it had decided on."""
    if job.facts.ended_s is None or job.facts.ended_by == "unknown":  # nobody saw its end: the doctor was killed
        return True
    if job.facts.asked_to_end or job.facts.signal in _BY_SIGNAL:
        return True
    if job.facts.exit_code == _ENDED_BY_TIMEOUT or job.facts.exit_code in [128 + number for number in _BY_SIGNAL]:
        return True
    return any(_was_asked(job, process) for process in job.processes)


def _was_asked(job: Job, process: JobProcess) -> bool:
    """Whether a rank or launcher died of a signal of unknown origin, or answered one with an exception."""
    if process.part not in (ProcessRole.RANK, ProcessRole.LAUNCHER):
        return False
    if process.end.signal in _BY_SIGNAL and process.ended_by == "unknown":
        return True
    last = max((one.at_s for one in process.raised), default=0.0)
    interrupted = (one for one in process.raised if INTERRUPTED.match(one.text))
    return any(last - one.at_s < TEARDOWN_S for one in interrupted) or _left_in_a_handler(job, process)


def _left_in_a_handler(job: Job, process: JobProcess) -> bool:
    """Whether the function that left is one that the same file gives to signal.signal or add_signal_handler."""
    left = process.agent.last_event("sys.exit", "os._exit") if process.agent is not None else None
    for frame in left.path if left is not None else ():
        name = re.escape(frame.function.rpartition(".")[2])
        registers = re.compile(rf"\b(?:signal|add_signal_handler)\([^()\n]{{1,200}}\b{name}\b")
        if any(registers.search(line) for line in job.sources.file(frame.file).lines):
            return True
    return False


def _doctor_asked(job: Job) -> bool:
    """Whether the doctor sent the job a signal before it had ended."""
    asked = job.facts.asked_to_end or job.facts.ended_for_hanging
    return asked and any(one.why == job.facts.ended_by for one in job.facts.sent)


def _with_reason(before: Job, job: Job) -> Job:
    """Returns the state in which the doctor ended a job for standing still, as one that stood still."""
    if not job.facts.ended_for_hanging:
        return before
    return replace(before, facts=replace(before.facts, ended_by=job.facts.ended_by))


def _of_stopped(job: Job, state: Job, decision: Diagnosis) -> Diagnosis:
    """Returns the verdict about a job that was asked to end: a healthy one neither hung nor crashed."""
    asked = _asked_in_words(job)
    if job.facts.ended_for_hanging:
        return decision
    still = stood_still(state) or bool(state.facts.proved)
    failed = any(process.failed for process in state.processes)
    if decision.outcome in (JobOutcome.HANG, JobOutcome.CRASH) and not still and not failed:
        decision = Diagnosis(outcome=JobOutcome.OK, failure_class=NO_CLASS, first=None, others=(), notes=decision.notes)
    if decision.outcome in (JobOutcome.HANG, JobOutcome.CRASH):
        return _noted(decision, f"the verdict is about the job before {asked}; what it did then is its teardown")
    if job.facts.ended_by == ABORTED:
        return _noted(decision, f"the doctor ended the job, as --abort-on wants: {asked}")
    if job.facts.ended_by == MEASURED:
        return _noted(decision, f"the doctor ended the job when it had been measured: {asked}")
    well = "; until then nothing was found wrong" if decision.outcome is JobOutcome.OK else ""
    return _noted(decision, f"{asked} ended the job while it went on{well}")


def _asked_in_words(job: Job) -> str:
    first = min(job.facts.sent, key=lambda one: one.at_s)
    return f"{signal_name(first.signal)} at {first.at_s:.1f} s"


def _went_on(job: Job, before: Job) -> bool:
    """Whether the job trained on after `before` was kept, or lived on for longer than a teardown takes."""
    steps = {(process.pid, process.start_ticks): process.steps for process in before.processes}
    if any(process.steps > steps.get((process.pid, process.start_ticks), 0) for process in job.processes):
        return True
    last = job.facts.stalls[-1] if job.facts.stalls else None
    over = last.over_s if last is not None else None
    return over is not None and job.facts.ended_s is not None and job.facts.ended_s - over > TEARDOWN_S


def _words(decision: Diagnosis) -> str:
    """Returns "hang, rank-stalled on rank 1 at train.py:31"."""
    first = decision.first
    what = class_and_ranks(decision.failure_class, first.culprit_ranks if first is not None else ())
    at = f" at {first.locations[0]}" if first is not None and first.locations else ""
    return f"{decision.outcome}, {what}{at}"


def _noted(decision: Diagnosis, *notes: str) -> Diagnosis:
    return replace(decision, notes=tuple(dict.fromkeys([*decision.notes, *notes])))

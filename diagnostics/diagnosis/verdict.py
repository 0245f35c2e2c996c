"""The deciding rule: which of the known failures a job's verdict is, and the exit code that follows. Pure.

Root beats cascade; a specific match beats a generic one about the same process; then confidence; then the earliest
event. The order of files never decides. Where nothing fits the verdict is "unknown, here is what was seen".
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.wording import signal_name
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.exit_status.failure_handling import FailureFate, failure_fates
from diagnostics.dynamic.job.evidence import ended_s, stood_still
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.stall.liveness import judgement_of
from diagnostics.record.supervisor_facts import ABORTED, ATTACHED, START_AGAIN
from diagnostics.report.run_report import NO_CLASS, UNKNOWN_CLASS
from diagnostics.static.launch_files.status_flow import Fate

HIDDEN_CRASH_EXIT = STRICT_EXIT = 70
STALLED_EXIT = 124
PROVED = 2  # of a match's certainty
UNDECIDED_EXIT = 3
_FAILURES = (JobOutcome.CRASH, JobOutcome.HANG)
ENDED_BY_OTHERS = ("doctor", "launcher")
_WEIGHT = {
    JobOutcome.CRASH: 0, JobOutcome.HANG: 0, JobOutcome.OK: 1, JobOutcome.SILENT_WRONG: 2, JobOutcome.SLOW: 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The verdict. `first` is the match it rests on, None where nothing fits; `others` follow in order."""

    outcome: JobOutcome
    failure_class: str
    first: Match | None
    others: tuple[Match, ...]
    notes: tuple[str, ...] = ()
    handled: tuple[str, ...] = ()  # failures that the job itself dealt with, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """The doctor's exit code and why, in words."""

    code: int
    reason: str


def arbitrate(job: Job, matches: Sequence[Match]) -> Diagnosis:
    """Returns the verdict over all that the signatures said."""
    handled: list[FailureFate] = []
    notes: tuple[str, ...] = ()
    try:
        handled = _handled(job)
    except Exception as error:  # as with a signature: it costs its own answer, never the report
        notes = (f"what the job did with failures is not known: {type(error).__name__}: {error}",)
    pids = {one.process.pid for one in handled}
    # In a job that says 0 nothing is a crash that the job itself dealt with, whatever a signature knows about it.
    counted = [one for one in matches if not (one.outcome in _FAILURES and one.explains and pids >= set(one.explains))]
    decision = _decide(job, counted)
    return replace(decision, notes=(*decision.notes, *notes), handled=tuple(one.sentence for one in handled))


def _decide(job: Job, matches: Sequence[Match]) -> Diagnosis:
    first_ones = [one for one in matches if one.is_root and (one.outcome in _FAILURES or not _failed(job))]
    roots = sorted(_without_generic_doubles(first_ones), key=order_of)
    if any(
        one.outcome in _FAILURES and one.certainty == PROVED and not _is_of_earlier_start(job, one) for one in roots
    ):
        roots.sort(key=lambda one: _is_of_earlier_start(job, one))  # which the job had left behind
    stands_s = min((_ranks_began_s(job, one) for one in roots if one.outcome is JobOutcome.HANG), default=float("inf"))
    roots.sort(key=lambda one: _was_over(job, one, stands_s))
    cascades = sorted((one for one in matches if one not in first_ones), key=order_of)
    if not roots:
        return _unmatched(job, cascades)
    first = roots[0]
    return Diagnosis(
        outcome=first.outcome,
        failure_class=first.failure_class,
        first=first,
        others=(*roots[1:], *cascades),
    )


def _ranks_began_s(job: Job, match: Match) -> float:
    """Returns when the first rank that a match accounts for began, infinity without one."""
    told = [job.of_pid(pid) for pid in match.explains]
    return min((one.began_s for one in told if one is not None and one.rank is not None), default=float("inf"))


def _was_over(job: Job, match: Match, stands_s: float) -> bool:
    """Whether a match is about programs that had ended before the ranks that stand still began: the job went on."""
    told = [job.of_pid(pid) for pid in match.explains]
    return (
        stands_s < float("inf")
        and bool(told)
        and all(one is not None and one.rank is None and ended_s(one) < stands_s for one in told)
    )


def _is_of_earlier_start(job: Job, match: Match) -> bool:
    """Whether all that a match is about are ranks that a launcher has started again since."""
    told = [job.of_pid(pid) for pid in match.explains]
    return bool(told) and all(one is not None and _was_started_again(job, one) for one in told)


def _was_started_again(job: Job, process: JobProcess) -> bool:
    last = job.of_rank(process.rank) if process.rank is not None else None
    return last is not None and last.restart > process.restart


def _failed(job: Job) -> bool:
    """Whether the job stood still or failed by itself: how it trained until then is not what became of it."""
    return stood_still(job) or (job.failed and not job.facts.asked_to_end)


def exit_of(job: Job, decision: Diagnosis, *, strict: bool = False, stopped: bool = False) -> Exit:
    """Returns the exit code by the table of the command's documentation. `stopped`: somebody asked the job to end."""
    own, said = job_exit(job)
    if job.facts.ended_by == ATTACHED:
        return _of_attached(decision)
    if job.facts.ended_by == ABORTED and decision.outcome not in _FAILURES:
        return Exit(code=STRICT_EXIT, reason=f"--abort-on: the doctor ended the job, {_aborted(decision)}")
    if job.facts.ended_by == "interrupt" and own == START_AGAIN:
        return Exit(code=own, reason=f"the job answered a signal to the doctor: it {said}, to be started again")
    if job.facts.ended_by == "interrupt":
        number = next((one.signal for one in job.facts.sent if one.why == "interrupt"), signal.SIGINT)
        return Exit(code=128 + number, reason=f"the job was ended by {signal_name(number)} to the doctor")
    if decision.outcome is JobOutcome.HANG and job.facts.ended_for_hanging:
        return Exit(code=STALLED_EXIT, reason="the job hung and was ended by the doctor")
    if decision.outcome is JobOutcome.HANG and stopped and own is not None:
        return Exit(code=own, reason=f"the job hung and was ended from outside; it {said}")
    if decision.outcome in (JobOutcome.CRASH, JobOutcome.HANG):
        died = _culprits_signal(job, decision)
        if died is not None:
            return Exit(code=128 + died.number, reason=f"{died.who} died of {signal_name(died.number)}; the job {said}")
        if own in (0, None):
            return Exit(code=HIDDEN_CRASH_EXIT, reason=f"the job {said}, but it failed")
        return Exit(code=own, reason=f"the job {said}")
    if strict and decision.outcome is not JobOutcome.OK:
        return Exit(code=STRICT_EXIT, reason=f"--strict: the job {said}, but its result is {decision.outcome}")
    if strict and decision.handled:
        return Exit(code=STRICT_EXIT, reason=f"--strict: the job {said}, but failures were dealt with on the way")
    return Exit(code=own if own is not None else 0, reason=f"the job {said}")


def _aborted(decision: Diagnosis) -> str:
    return f"its result is {decision.outcome}" if decision.outcome is not JobOutcome.OK else "which then looked well"


def _handled(job: Job) -> list[FailureFate]:
    """Returns what failed in a job that ended with 0 and did not have to change its code."""
    if job.failed or job.facts.exit_code != 0:
        return []
    return [one for one in failure_fates(job) if one.fate is not Fate.DROPPED]


def _of_attached(decision: Diagnosis) -> Exit:
    """Returns the exit code of a look at a job that runs on."""
    match decision.outcome:
        case JobOutcome.OK:
            return Exit(code=0, reason="the job goes on")
        case JobOutcome.UNKNOWN:
            return Exit(code=UNDECIDED_EXIT, reason="whether the job goes on cannot be told")
    return Exit(code=1, reason="something is wrong with a job that runs")


def job_exit(job: Job) -> tuple[int | None, str]:
    """Returns the job's own exit code as a shell would see it, and how it ended in words."""
    if job.facts.signal is not None:
        return 128 + job.facts.signal, f"died of {signal_name(job.facts.signal)}"
    if job.facts.exit_code is not None:
        return job.facts.exit_code, f"ended with exit code {job.facts.exit_code}"
    return None, "has no known end"


def order_of(match: Match) -> tuple[int, int, float, str]:
    """The key by which the first of several matches is the verdict."""
    began = match.began_s if match.began_s is not None else float("inf")
    return _WEIGHT[match.outcome], -match.certainty, began, match.finding.code


def _without_generic_doubles(roots: Sequence[Match]) -> list[Match]:
    """Returns the roots without generic ones that say less about processes a specific one accounts for."""
    special = [one for one in roots if not one.generic]
    explained = {pid for one in special for pid in one.explains}
    return [
        one for one in roots if not one.generic or not (explained & set(one.explains) or (special and not one.explains))
    ]


def _unmatched(job: Job, cascades: Sequence[Match]) -> Diagnosis:
    notes: tuple[str, ...] = ()
    if job_exit(job)[0] == START_AGAIN and not job.failed:
        notes = (*notes, "it asks to be started again (exit code 75)")
    others = tuple(cascades)
    looked = judgement_of(job)
    if looked is not None and not looked.still and not looked.goes_on:
        return Diagnosis(
            outcome=JobOutcome.UNKNOWN, failure_class=UNKNOWN_CLASS, first=None, others=others, notes=notes
        )
    still = stood_still(job)
    if still or (job.failed and (not job.facts.asked_to_end or job.culprits)):
        outcome = JobOutcome.HANG if still else JobOutcome.CRASH
        notes = ("interrupted", *notes) if job.facts.ended_by == "interrupt" else notes
        return Diagnosis(outcome=outcome, failure_class=UNKNOWN_CLASS, first=None, others=others, notes=notes)
    if looked is not None and looked.goes_on:
        notes = (looked.words, *notes)
    return Diagnosis(outcome=JobOutcome.OK, failure_class=NO_CLASS, first=None, others=others, notes=notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Died:
    number: int
    who: str


def _culprits_signal(job: Job, decision: Diagnosis) -> _Died | None:
    """Returns the signal that a culprit rank died of by itself; the verdict says who that is, where there is one.

    Torch may abort a process that an exception is ending already: what ended it is the exception.
    """
    ranks = decision.first.culprit_ranks if decision.first is not None else ()
    processes: list[JobProcess] = [process for rank in ranks if (process := job.of_rank(rank)) is not None]
    for process in processes if decision.first is not None else job.culprits:
        by_itself = process.ended_by not in ENDED_BY_OTHERS and process.uncaught is None
        if process.end.signal is not None and by_itself:
            return _Died(number=process.end.signal, who=f"rank {process.rank}")
    return None

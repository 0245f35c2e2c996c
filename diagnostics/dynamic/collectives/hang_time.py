"""The moment at which to look at a job that hung: when its ranks stood still and nobody had ended them yet. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.dynamic.job.evidence import stood_still
from diagnostics.dynamic.job.job import ExceptionSource, Job
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.record.supervisor_facts import ABORTED, ENDED_FOR_HANGING
from diagnostics.record.torch_messages import WAIT_ENDED

JUST_BEFORE_S = 0.02
_LEAST_WAIT_S = 0.5  # shorter than any timeout that somebody would set for a collective


def hang_time(job: Job) -> float | None:
    """Returns seconds since the job's start, None where the job did not hang as far as it is known.

    A job that came to a good end by itself did not: it caught the timeout of a call that could not succeed.
    """
    if job.facts.ended_by == "itself" and job.facts.exit_code == 0:
        return None
    if job.facts.proved:
        return job.facts.proved[-1].proved_s
    if stood_still(job):
        sent = [one.at_s for one in job.facts.sent if one.why in (*ENDED_FOR_HANGING, ABORTED, "interrupt")]
        stall = next((one for one in reversed(job.facts.stalls) if one.over_s is None), None)
        if sent:
            return min(sent) - JUST_BEFORE_S
        return stall.seen_s if stall is not None else job.facts.ended_s
    own = min(_timeouts(job), default=None)
    return None if own is None else own - JUST_BEFORE_S


def ended_by_own_timeout(job: Job) -> bool:
    """Whether no one ended the job for hanging, and a collective of a rank gave up by its own timeout."""
    return ended_by_itself(job) and any(True for _ in _timeouts(job))


def ended_by_itself(job: Job) -> bool:
    """Whether neither the doctor nor the job's user ended a job that stood still: it failed, whatever held it up."""
    return job.facts.ended_s is not None and job.facts.ended_by == "itself" and not stood_still(job)


def _timeouts(job: Job) -> Iterator[float]:
    """Yields when an operation gave up: of those whose exception ended their process or a rank."""
    for process in job.ranks:
        told = [one for one in process.raised if WAIT_ENDED.search(one.text)]
        if not told:
            continue
        if process.agent is not None:
            offset = job_time(job.facts, process.agent)
            yield from (
                offset + call.left_s
                for call in process.agent.collectives
                if call.failed and call.left_s is not None and call.left_s - call.entered_s >= _LEAST_WAIT_S
            )
        yield from (one.at_s for one in told if one.how is not ExceptionSource.OUTPUT)

"""A run that had finished, and whose process was ended or died in its teardown."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Claim

ORDER = 30


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict where a tracker was closed in order with rows and a launcher tells of a signal."""
    finished = [trace for trace in run.said(Claim.FINISHED) if trace.is_tracker]
    ended = [trace for trace in run.others if trace.said is Claim.KILLED or trace.signal]
    if not finished or not ended or not run.rows:
        return None
    return Judgement(
        fate=RunFate.KILLED_AFTER_FINISHING, confidence=Confidence.LIKELY,
        evidence=(f"{finished[0].said_words} after {run.rows} rows", ended[0].said_words),
    )  # fmt: skip

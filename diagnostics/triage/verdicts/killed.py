"""A run that was ended from outside before it had finished: a time limit, preemption, scancel, a tracker's stop."""

from __future__ import annotations

from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Claim

ORDER = 40


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict where a source says that it was ended."""
    told = run.said(Claim.KILLED)
    if not told:
        return None
    return Judgement(
        fate=RunFate.KILLED, evidence=(told[0].said_words or f"{told[0].source} says killed", *told[0].notes)
    )

"""A run that the doctor saw hang, whoever ended it then: that it was killed is what comes of a hang."""

from __future__ import annotations

from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Claim

ORDER = 35


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict where the doctor's report, or its last word in a log, says that it hung."""
    told = run.said(Claim.HUNG)
    if not told:
        return None
    return Judgement(fate=RunFate.HUNG, evidence=(*([run.error] if run.error else []), told[0].said_words))

"""A run that `ups-doctor perf` made in order to measure it, and ended when it had: neither dead nor finished.

That its launcher and its tracker tell of a signal is what comes of that; what fails by itself is never measured.
"""

from __future__ import annotations

from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Claim

ORDER = 25


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict where the doctor's record says that it ended the run itself, as it was asked to."""
    told = run.said(Claim.MEASURED)
    return Judgement(fate=RunFate.MEASURED, evidence=(told[0].said_words,)) if told else None

"""A run that was ended from outside before it had finished: a time limit, preemption, scancel, a tracker's stop."""

from __future__ import annotations

from diagnostics.triage.run import Fate, Judgement, Known, Run
from diagnostics.triage.trace import Said

ORDER = 40


def judge(run: Run, known: Known) -> Judgement | None:
    """Returns the verdict where a source says that it was ended."""
    told = run.said(Said.KILLED)
    if not told:
        return None
    return Judgement(fate=Fate.KILLED, evidence=(told[0].said_words or f"{told[0].source} says killed", *told[0].notes))

"""A run that finished: with rows it did well, without any it may have done nothing."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Claim

ORDER = 60


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns one of the two verdicts; without a tracker, a log's word is all there is."""
    told = run.said(Claim.FINISHED)
    if not told:
        return None
    words = tuple(dict.fromkeys(trace.said_words for trace in told if trace.said_words))
    if run.rows is None:
        return Judgement(fate=RunFate.FINISHED, evidence=(*words, "no tracker's run was found to compare with"),
                         confidence=Confidence.POSSIBLE)  # fmt: skip
    if not run.rows:
        return Judgement(fate=RunFate.FINISHED_EMPTY, evidence=(*words, "it was closed in order, and holds no row"))
    closed = any(trace.is_tracker for trace in told)
    return Judgement(fate=RunFate.FINISHED, evidence=(*words, f"{run.rows} rows"),
                     confidence=Confidence.CONFIRMED if closed else Confidence.LIKELY)  # fmt: skip

"""A run that says 0, or that all went well, and of which nothing shows that it trained."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Claim

ORDER = 20


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict where a claim of success stands against what else is known."""
    told = run.said(Claim.LIED)
    if told:
        return Judgement(fate=RunFate.LIES, evidence=(told[0].said_words, *((run.error,) if run.error else ())))
    claims = run.said(Claim.FINISHED)
    if not claims or run.rows or not run.trackers or run.said(Claim.FAILED, Claim.KILLED, Claim.HUNG):
        return None
    words = claims[0].said_words
    if run.error:
        return Judgement(fate=RunFate.LIES, evidence=(f"{words}, with 0 rows and an exception: {run.error}",))
    unclosed = [trace for trace in run.trackers if trace.said is Claim.NOTHING]
    if len(unclosed) == len(run.trackers) and known.is_alive(run) is not True:
        return Judgement(
            fate=RunFate.LIES, confidence=Confidence.LIKELY,
            evidence=(f"{words}, yet the tracker was never closed and holds 0 rows",
                      "rows may have been logged and lost in its buffer: 0 rows do not prove that none was"),
        )  # fmt: skip
    return None

"""A run that failed by its own words, or by those of its launcher: an exit code, a signal, an exception."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Claim

ORDER = 50


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict where a failure is recorded; an exception alone counts where no success is claimed."""
    told = run.said(Claim.FAILED)
    if not told and (not run.error or run.said(Claim.FINISHED) or known.is_alive(run)):
        return None
    words = [trace.said_words for trace in told if trace.said_words]
    evidence = tuple(dict.fromkeys([*([run.error] if run.error else []), *words])) or ("a source says failed",)
    return Judgement(
        fate=RunFate.CRASHED, evidence=evidence, confidence=Confidence.CONFIRMED if told else Confidence.LIKELY
    )

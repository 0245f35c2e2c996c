"""A run that failed by its own words, or by those of its launcher: an exit code, a signal, an exception."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.run import Fate, Judgement, Known, Run
from diagnostics.triage.trace import Said

ORDER = 50


def judge(run: Run, known: Known) -> Judgement | None:
    """Returns the verdict where a failure is recorded; an exception alone counts where no success is claimed."""
    told = run.said(Said.FAILED)
    if not told and (not run.error or run.said(Said.FINISHED) or known.is_alive(run)):
        return None
    words = [trace.said_words for trace in told if trace.said_words]
    evidence = tuple(dict.fromkeys([*([run.error] if run.error else []), *words])) or ("a source says failed",)
    return Judgement(
        fate=Fate.CRASHED, evidence=evidence, confidence=Confidence.CONFIRMED if told else Confidence.LIKELY
    )

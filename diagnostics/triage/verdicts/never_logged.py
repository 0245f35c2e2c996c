"""A run that came to its end, or went on long enough, without a row, where no buffer can explain it."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.run import EARLY_S, Judgement, Known, RunFate, TrackedRun

ORDER = 90
FLUSHED_S = 60.0  # trackers write what they have more often than this


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict for a tracker that keeps nothing back, or that wrote other things long after its start."""
    if run.rows != 0 or known.is_alive(run) is not False:
        return None
    stats = [trace.last_stat_s for trace in run.trackers if trace.last_stat_s]
    later = max(stats, default=0.0) - (run.started_s or 0.0) if stats and run.started_s else 0.0
    if not run.rows_are_all and later < FLUSHED_S:
        return None
    kept = "this tracker writes each row at once" if run.rows_are_all else f"it wrote statistics for {later:.0f} s"
    return Judgement(
        fate=RunFate.NEVER_LOGGED, confidence=Confidence.LIKELY,
        evidence=(f"0 rows, and {kept}; rows are expected within {EARLY_S:.0f} s",),
    )  # fmt: skip

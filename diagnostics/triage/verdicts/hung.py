"""A run that is there and makes no progress: its process lives, or its statistics are newer than its rows."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.decoding.times import shown_duration
from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun

ORDER = 70


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict where rows stopped long before all else, measured by the run's own pace."""
    alive = known.is_alive(run)
    stats = [trace.last_stat_s for trace in run.trackers if trace.last_stat_s]
    until = known.now_s if alive else max(stats, default=None)
    if until is None or not run.trackers:
        return None
    silent = run.silent_s(until)
    if silent is None or silent <= run.patience_s:
        return None
    since = f"after its last row (step {run.last_step})" if run.rows else "after its start, without any row"
    what = "its process is alive" if alive else "its system statistics went on"
    return Judgement(
        fate=RunFate.HUNG, confidence=Confidence.LIKELY,
        evidence=(f"{what} {shown_duration(silent)} {since}; {shown_duration(run.patience_s)} would be slow",),
    )  # fmt: skip

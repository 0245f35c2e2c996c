"""A run that stopped without a word: killed, ended by os._exit, or its machine went away."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.decoding.times import shown_time
from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun

ORDER = 100


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict for a run whose process is gone, in a source that marks ends, or whose last row is torn."""
    if known.is_alive(run) is not False or not any(one.records_end or one.is_torn for one in run.trackers):
        return None
    pids = sorted({str(trace.pid) for trace in run.trackers if trace.pid is not None})
    gone = f"no process {', '.join(pids)} of that time is here" if pids else "nothing is written any more"
    return Judgement(
        fate=RunFate.CRASHED, confidence=Confidence.LIKELY,
        evidence=(f"no end was recorded (killed, os._exit, or the machine went away); {gone}; "
                  f"last sign {shown_time(run.last_sign_s)} UTC",),
    )  # fmt: skip

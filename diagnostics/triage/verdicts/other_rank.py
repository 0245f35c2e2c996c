"""A run that another rank of the same job opened: same host, same settings, both at work at the same time."""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.triage.run import Judgement, Known, RunFate, TrackedRun

ORDER = 10
TOGETHER_S = 5.0


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns the verdict about a run that doubles another one."""
    if not run.trackers or not run.config or run.started_s is None or known.times_are_of_a_copy:
        return None
    keeper = max(_together(run, known), key=lambda one: (one.rows or 0, -(one.started_s or 0), one.name), default=run)
    if keeper is run or (keeper.rows or 0) < (run.rows or 0):
        return None
    apart = abs((keeper.started_s or 0) - run.started_s)
    return Judgement(
        fate=RunFate.DUPLICATE, same_as=keeper.name, confidence=Confidence.LIKELY,
        evidence=(f"{keeper.name} began {apart:.1f} s apart with the same {len(run.config)} settings on the same "
                  f"host, as another process; it has {keeper.rows} rows, this one {run.rows}",),
    )  # fmt: skip


def _together(run: TrackedRun, known: Known) -> list[TrackedRun]:
    """Returns the runs that ranks of one job may have opened, the run itself among them."""
    if (run.world_size or 2) < 2:
        return []
    return [one for one in known.near(run, TOGETHER_S) if one is run or _alike(one, run)]


def _alike(one: TrackedRun, other: TrackedRun) -> bool:
    return (
        bool(one.pids and other.pids)
        and not one.pids & other.pids
        and one.config == other.config
        and {trace.source for trace in one.trackers} == {trace.source for trace in other.trackers}
        and all(not a or not b or a == b for a, b in ((one.host, other.host), (one.program, other.program)))
        and max(one.started_s or 0, other.started_s or 0) < min(one.last_sign_s or 0, other.last_sign_s or 0)
    )

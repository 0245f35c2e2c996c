"""A run that is at work, or too young to tell."""

from __future__ import annotations

from diagnostics.triage.decoding.times import shown_duration
from diagnostics.triage.run import EARLY_S, JUST_WRITTEN_S, Judgement, Known, RunFate, TrackedRun

ORDER = 80


def judge(run: TrackedRun, known: Known) -> Judgement | None:
    """Returns "running" for a live process with rows, "too early" for one without; hung was asked before."""
    alive, sign = known.is_alive(run), run.last_sign_s
    quiet = known.now_s - sign if sign is not None else None
    age = known.now_s - run.started_s if run.started_s is not None else None
    if alive and run.rows:
        return Judgement(fate=RunFate.RUNNING, evidence=(f"its process is alive, {run.rows} rows, the last at step "
                                                      f"{run.last_step}",))  # fmt: skip
    if alive or (alive is None and quiet is not None and quiet < JUST_WRITTEN_S):
        fate = RunFate.RUNNING if run.rows else RunFate.TOO_EARLY
        if not run.rows and age is not None and age > EARLY_S:
            return None
        told = "its process is alive" if alive else f"it was written to {shown_duration(quiet)} ago"
        return Judgement(fate=fate, evidence=(f"{told}; it began {shown_duration(age)} ago",))
    return None

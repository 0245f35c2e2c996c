"""The other ranks wait for one rank in nearly every step, or in every second or third.

What it does: splits each step of each rank into what it does itself and what it waits for others, by the clock of the
host. The rank that is last in nearly all steps, or late in every second or third one where no other rank is, and so
late that a quarter of the time or more would be won, is named, with what it does meanwhile: waiting for its data,
writing checkpoints or logs, collecting garbage, more work, swapping. Time in which it had no CPU since others took it
is not counted against it, nor are stages of a pipeline.

Why it matters: a synchronous step takes as long as its slowest rank; the hours of all others are paid for waiting.

Fix: what the page names: do rank 0's logging and checkpoints less often or in the background, give each rank as much
work, move its data nearer.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, shown_ranks
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.slow_match import cpus_in_words, enough, told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.steps.advice import straggler_fix
from diagnostics.dynamic.steps.places import straggler_line
from diagnostics.dynamic.steps.straggler import Straggler
from diagnostics.dynamic.steps.table import LABELS, milliseconds, percent
from diagnostics.dynamic.steps.view import step_view

CODE = "D801"
NAME = "rank-late"
CLASS = "straggler"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST = 0.25  # of a step


def match(job: Job) -> Match | None:
    """Returns the rank that the others wait for, where that costs much and is its own doing."""
    view = step_view(job)
    late = view.late
    if late is None or view.on_device or late.sure_cost < LEAST or late.cost < LEAST or not late.replicas:
        return None
    if not enough(view.splits, late.lost_s):
        return None
    frames = straggler_line(job, late)
    return told(
        job,
        [late.split.of.process],
        view.splits,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(late),
        evidence=[
            Evidence(
                source=f"the last rank of each step, {len(late.split.of.steps)} steps",
                observed=f"rank {late.split.rank} in {percent(late.often)}, by {milliseconds(late.gain_s)} ms (median)",
                expected="one rank as often as another",
            ),
            cpus_in_words(view.cpus),
            *(source_evidence(job, frames[0]) if frames else ()),
        ],
        fix=straggler_fix(late),
        locations=_lines(job, late, frames),
        victims=[one.of.process for one in late.others],
    )


def _title(late: Straggler) -> str:
    others = shown_ranks([one.rank for one in late.others])
    lost = f"{milliseconds(late.gain_s)} ms {'then,' if late.partly else 'or'} {percent(late.cost)} {late.of_what}"
    return (
        f"{others.capitalize()} wait{'s' if len(late.others) == 1 else ''} for rank {late.split.rank} in "
        f"{percent(late.often)} of the steps, {lost}: "
        f"{late.reason} ({LABELS[late.phase]}: {milliseconds(late.phase_s)} ms more than any other rank)"
    )


def _lines(job: Job, late: Straggler, frames: tuple[Frame, ...]) -> tuple[str, ...]:
    own = user_frames(frames, agent_folder=late.split.of.process.agent_folder)
    return distinct([job.line(frame) for frame in own])

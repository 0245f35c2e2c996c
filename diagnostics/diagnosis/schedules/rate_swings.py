"""A cosine that is made for the epochs is stepped with each batch: the rate swings up and down and never anneals.

What it does: knows the steps at which the rate turned upward, and the number of steps its scheduler was made for. Told
is a CosineAnnealingLR, or a cosine as a LambdaLR, that is stepped with each optimizer step and came down for as many of
these as there are epochs, twice and more: by the passes over the loader, or by the name that it was given.

Why it matters: T_max counts calls of step(). Behind it the cosine goes up again as it came down: the rate is as often
high as low, and what the last epoch leaves is a matter of chance. Nothing fails. Left alone: restarts and cycles, which
have classes of their own, ends that are no number of epochs, and one that is passed at the very end.

Fix: call scheduler.step() once an epoch, or make the schedule for epochs * len(loader).
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import Told, latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.batch_data import LoaderPass, SourceKind
from diagnostics.record.marks.run_marks import RateSwings

CODE = "D958"
NAME = "rate-swings"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.SUCCEEDED

MOST_LINES = 5  # of the call that makes the scheduler
LEAST_STEPS = 2  # in an epoch
_EPOCHS = re.compile(  # "T_max=cfg.epochs)", ", args['num_epochs'],": no epochs of a cycle
    r"(?:\bT_max\s*=|\bnum_training_steps\s*=|,)\s*(?:int\()?(?:\w+[\"']?\]?[.\[])*[\"']?"
    r"(?:num|n|nb|max|total|train)?_?epochs?[\"'\]]*\s*[),]",
    re.IGNORECASE,
)
_STEPS = re.compile(r"\b\w{0,40}?(?:sched|lr)\w{0,40}(?:\[\w{1,40}\])?\.step\(")


def match(job: Job) -> Match | None:
    """Returns the optimizer whose rate swings."""
    told = [(one, _epochs(job, one)) for one in latest(job, RateSwings, lambda mark: (mark.optimizer, mark.made))]
    found = [(one, epochs) for one, epochs in told if epochs]
    if not found:
        return None
    (first, epochs), mark = found[0], found[0][0].mark
    made, stepped = own(first.process, mark.made)[:1], own(first.process, mark.path)[:1]
    at = f" of {job.line(made[0])}" if made else ""
    return training_match(
        job,
        [one.process for one, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.scheduler}{at} is made for the {epochs} epochs and stepped with each batch: the rate comes down "
        f"and goes up again every {mark.period} steps, {mark.turns} times up to step {mark.step}",
        evidence=[
            Evidence(
                source=f"learning rate of each step of {first.process.steps}",
                observed=f"{mark.high:g} down to {mark.low:g} in {mark.fell} steps, then up again",
                expected="down once, over all steps",
            )
        ],
        fix="call scheduler.step() once an epoch, after its last batch, or make the schedule for epochs * len(loader) "
        "steps",
        places=(*made, *nearest(job, first.process, _STEPS, stepped)[:1], *stepped),
        confidence=Confidence.LIKELY,
    )


def _epochs(job: Job, told: Told[RateSwings]) -> int:
    """Returns the number of epochs that the schedule was made for, 0 where it was made for something else."""
    mark, passes = told.mark, _passes(told.process)
    if not mark.horizon or not _fits(mark, mark.horizon):
        return 0  # not of this scheduler, or not stepped with each step
    steps = max((one.steps for one in passes), default=LEAST_STEPS)
    if steps < LEAST_STEPS:
        return 0
    if passes and abs(mark.horizon - passes[-1].number - 1) <= 1 and mark.horizon % steps:
        return passes[-1].number + 1
    return mark.horizon if _is_named(job, own(told.process, mark.made)[:1]) else 0


def _fits(mark: RateSwings, horizon: int) -> bool:
    """Whether the rate came down for as many steps as there were to be, less a warm-up."""
    least = horizon - 1 if mark.scheduler != "LambdaLR" else horizon // 2
    return least <= mark.fell <= horizon + 1


def _passes(process: JobProcess) -> list[LoaderPass]:
    """Returns those of the loader that was trained on most."""
    sources = process.agent.sources if process.agent is not None else ()
    trained = [[one for one in each.passes if one.steps] for each in sources if each.kind is SourceKind.LOADER]
    return max(trained, key=lambda passes: sum(one.steps for one in passes), default=[])


def _is_named(job: Job, made: tuple[Frame, ...]) -> bool:
    """Whether the end of the schedule is the number of epochs by its name alone."""
    for frame in made:
        lines = job.sources.file(frame.file).lines[frame.line - 1 : frame.line - 1 + MOST_LINES]
        call = ""
        for line in lines:
            call += line.partition("#")[0].strip() + " "
            if call.count("(") <= call.count(")"):
                break
        return bool(_EPOCHS.search(call)) and "*" not in call
    return False

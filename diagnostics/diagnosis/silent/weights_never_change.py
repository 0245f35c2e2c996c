"""Optimizer steps that change nothing: the parameters have gradients and end as they began.

What it does: compares samples of every parameter over ten steps and more. Where none that has a gradient changed on any
rank, the learning rate says why: 0 in each look (a scheduler that reached its end or was made for other units), or too
small for the type of the weights.

Why it matters: the loss is printed and checkpoints are written, and the model that ends is the one that began.

Fix: print optimizer.param_groups[0]["lr"] after the scheduler's first steps; a warm-up counts in the unit in which it
is stepped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.learning import Lesson, lessons
from diagnostics.dynamic.replicas.source_lines import lines_like, own, text_of
from diagnostics.dynamic.replicas.tables import print_text

CODE = "D526"
NAME = "weights-never-change"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED
LONG = 100  # steps of one optimizer beside others that learn

_SCHEDULE = re.compile(r"\b(?:LambdaLR|\w+LR|get_\w*schedule\w*|OneCycleLR)\(|\[.lr.\]\s*=")

_LOADED = re.compile(r"\b\w{0,40}opt\w{0,40}(?:\[[^\]]{1,40}\])?\.load_state_dict\(", re.IGNORECASE)

_ASKED = re.compile(r"\blr\s*=\s*0(?:\.0*)?\s*[,)]")


def match(job: Job) -> Match | None:
    """Returns the job in which no optimizer of any rank changed anything, or one of several did for very long."""
    found = _idle(lessons(job))
    if not found:
        return None
    first = found[0]
    rates = sorted({rate for one in found for look in one.looks for rate in look.rates if rate is not None})
    zero = rates == [0.0]
    index = first.read_gradients[0]
    made, stepped = own(first.process, first.last.model.made)[:1], own(first.process, first.last.model.stepped)[:1]
    # A rate that was 0 from an optimizer's first step on came with a state of another one that had reached its end.
    loaded = lines_like(job, first.process, _LOADED)[:1] if zero and first.last.model.optimizer else ()
    schedule = (loaded or lines_like(job, first.process, _SCHEDULE)[:1]) if zero else ()
    if zero and made and not schedule and _ASKED.search(text_of(job, made[0])):
        return None  # somebody wanted to see what a model does that does not learn
    steps = first.last.step - first.looks[0].step
    shown = ", ".join(f"{rate:g}" for rate in rates[:4])
    why = "the learning rate is 0 in each of them" if zero else f"with learning rates of {shown}"
    rows = [f"before step {look.step}  {print_text(look.values[index])}" for look in (first.looks[0], first.last)]
    return blamed(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{steps} optimizer steps changed no parameter, though they had gradients: {why}",
        evidence=[
            Evidence(
                source=f"{first.last.model.names[index]}: checksum, root mean square, first number",
                observed="\n".join(rows),
                expected="another one after each step",
            ),
            Evidence(source="learning rates at the looks", observed=shown or "unknown", expected="above 0"),
        ],
        fix=Fix(
            text="set the learning rate of each group after the state was loaded, or make the optimizer anew"
            if loaded
            else "make the schedule start and end above 0 in the unit in which scheduler.step() is called"
            if zero
            else "raise the learning rate, or keep the weights in float32: a step is lost in rounding"
        ),
        locations=distinct([job.line(frame) for frame in (*schedule, *made, *stepped)]),
        confidence=Confidence.CONFIRMED if zero else Confidence.LIKELY,
        outcome=JobOutcome.SILENT_WRONG,
    )


def _idle(found: Sequence[Lesson]) -> Sequence[Lesson]:
    """Returns what is known of optimizers that changed nothing: all of the job's, else one whose rate was 0 for long.

    Beside others that learn, a rate of 0 for some steps may be a phase.
    """
    if found and all(one.unchanged for one in found):
        return found
    for optimizer in sorted({one.last.model.optimizer for one in found}):
        alike = [one for one in found if one.last.model.optimizer == optimizer]
        if all(one.unchanged and _rate_is_zero(one) and one.last.step >= LONG for one in alike):
            return alike
    return ()


def _rate_is_zero(one: Lesson) -> bool:
    return {rate for look in one.looks for rate in look.rates} == {0.0}

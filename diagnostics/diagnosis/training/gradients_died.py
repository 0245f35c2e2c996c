"""All gradients became exactly zero and stayed so, while the loss stands still at a value that is not 0.

What it does: samples the gradients of all parameters before a few steps. Where they were there at first and every
number is 0 in each of the last looks, over twenty steps and more on every rank, and the loss is the same number at all
of them, nothing is learnt any more: units that are all dead, a saturated output, a clamp that cuts everything.

Why it matters: the loss is printed to the end. Left alone: a loss that is 0, as a hinge that nothing violates.

Fix: a smaller learning rate or a warm-up (a large step killed the units), no clamp or rounding on the way to the loss.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.parameter_prints import Look

CODE = "D913"
NAME = "gradients-died"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED
LOOKS, STEPS = 3, 20
NOTHING = 1e-6  # a loss that is done


def match(job: Job) -> Match | None:
    """Returns the job whose gradients are zero from some step on, on every rank."""
    trained = [process for process in job.ranks if process.prints.looks]
    found = [(process, dead) for process in trained for dead in [_dead(process)] if dead]
    if not found or len(found) < len(trained):
        return None
    process, dead = found[0]
    stepped = own(process, dead[0].model.stepped)[:1]
    loss = dead[-1].loss or 0.0
    steps = ", ".join(str(look.step) for look in dead)
    return training_match(
        job,
        [one for one, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"All gradients are exactly 0 from step {dead[0].step} on at the latest, while the loss stands at "
        f"{loss:.6g}",
        evidence=[
            Evidence(
                source=f"gradients of {len(dead[0].gradients)} parameters, and the loss, at steps {steps}",
                observed=f"0 in every number that was sampled; {loss:.6g} at each",
                expected="other numbers",
            )
        ],
        fix="lower the learning rate or warm it up (dead units); look for a clamp, mask or rounding before the loss",
        places=stepped,
        confidence=Confidence.LIKELY,
    )


def _dead(process: JobProcess) -> Sequence[Look]:
    """Returns the last looks of the one optimizer, where they show nothing but zeros."""
    looks = process.prints.looks
    if len({look.model.optimizer for look in looks}) != 1 or any(look.closure for look in looks):
        return ()
    alive = [index for index, look in enumerate(looks) if not _is_zero(look)]
    if not alive:
        return ()  # from the start: another finding
    dead = looks[alive[-1] + 1 :]
    if len(dead) < LOOKS or dead[-1].step - dead[0].step < STEPS:
        return ()
    losses = {look.loss for look in dead}
    loss = losses.pop()
    return dead if not losses and loss is not None and abs(loss) > NOTHING and loss - loss == 0 else ()


def _is_zero(look: Look) -> bool:
    told = [one for one in look.gradients if one.why != "none"]
    return bool(told) and all(one.is_zero for one in told)

"""A frozen part that was put into eval mode is woken by `train()` of the whole model.

What it does: follows the parts on which the program itself called `eval()` before its first step and all of whose
parameters are frozen. Where one of them is in train mode when steps are made, since `train()` goes down into every
part, its dropout drops and its batch norm counts the new data. Left alone: parts on which `train()` itself was called,
and models whose `train` keeps such parts in eval mode.

Why it matters: a teacher or a backbone that nobody trains gives other outputs than the ones it was chosen for, and its
running statistics drift away from its weights.

Fix: call `eval()` on the part again after each `train()`, or override `train` of the class that holds it.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.model_marks import PartWoken

CODE = "D952"
NAME = "frozen-part-woken"
CLASS = "wrong-mode"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
LEAST_STEP = 20  # the first two looks saw it


def match(job: Job) -> Match | None:
    """Returns the ranks whose frozen part is in train mode."""
    # Looks are at steps 10, 20, 40 ...: where the run went on well past twice the last, the mode was put right.
    found = [
        one
        for one in latest(job, PartWoken, lambda mark: (mark.root, mark.part))
        if one.mark.step >= LEAST_STEP and one.process.steps < 2 * one.mark.step + 2
    ]
    if not found:
        return None
    mark, process = found[0].mark, found[0].process
    slept, woke = own(process, mark.eval_at)[:1], own(process, mark.path)[:1]
    by = f" at {job.line(woke[0])}" if woke else ""
    before = f" at {job.line(slept[0])}" if slept else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.part} ({mark.part_class}) of {mark.root} is frozen and was put into eval mode{before}, and "
        f"train() of the whole model{by} put it back into train mode: {mark.module} behaves as in training",
        evidence=[
            Evidence(
                source=f"modes of the modules before step {mark.step}",
                observed=f"{mark.part} in train mode, and no parameter of it requires a gradient",
                expected="eval mode, as its own eval() wanted",
            )
        ],
        fix=f"call .{mark.part}.eval() again after each train(), or override train() of {mark.root} to do so",
        places=(*woke, *slept),
        module=mark.part,
        confidence=Confidence.LIKELY,
    )

"""A part of the model learns in eval mode from the start: whoever built or loaded it called `eval()` on it.

What it does: before steps 10, 20, 40 ... looks which modules of the model are in eval mode. Where a composite part is,
though most of its parameters are trained, since it was put into eval mode before any optimizer was made, its dropout is
off, or its batch norm has never estimated a statistic. The same of a whole model that a library handed over in eval
mode, as `from_pretrained` does.

Why it matters: nothing regularises the part, and batch norm normalises by what it was initialised with. Lightning since
2.2 leaves modes as it finds them. Left alone: layers that somebody chose, models that their own program puts into eval
mode, classes with a `train` of their own, what is called after the optimizer was made.

Fix: call `model.train()` before the loop, `model.backbone.train()` under Lightning.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.training_marks import PartInEval

CODE = "D923"
NAME = "part-in-eval-mode"
CLASS = "wrong-mode"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

EVALUATES = re.compile(r"\.eval\(\)|\.train\((?:mode\s*=\s*)?False\)")
_LOADS = re.compile(r"\bfrom_pretrained\(|\b(?:torch\.hub|\w*hub)\.load\(|\bcreate_model\(")
LEAST_STEP = 20  # the first two looks saw it


def match(job: Job) -> Match | None:
    """Returns the ranks that train such a part."""
    # Looks are at steps 10, 20, 40 ...: where the run went on well past twice the last, the mode was put right.
    found = [
        one
        for one in latest(job, PartInEval, lambda mark: (mark.root, mark.part))
        if one.mark.step >= LEAST_STEP and one.process.steps < 2 * one.mark.step + 2
    ]
    if not found:
        return None
    mark, process = found[0].mark, found[0].process
    evaluating, stepped = own(process, mark.evaluating), own(process, mark.stepped)[:1]
    if mark.library is None:  # nobody saw who did it: a library, where the program itself never does
        if lines_like(job, process, EVALUATES):
            return None
        evaluating = lines_like(job, process, _LOADS)[:1]
    named = f"{mark.part} ({mark.part_class})" if mark.part else "the whole model"
    by = f": eval() was called at {job.line(evaluating[0])}" if evaluating and not mark.library else ""
    if mark.library is not False and evaluating:
        by = f": {job.line(evaluating[0])} was handed it in eval mode"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.root} is trained with {named} in eval mode from the start{by}, and train() was not called on it",
        evidence=[
            Evidence(
                source=f"modes of the modules before step {mark.step}",
                observed=f"every module of {named} in eval mode, {mark.module} among them, while {mark.learning} of "
                "its parameters have gradients and are held by the optimizer",
                expected="train mode",
            )
        ],
        fix=f"call model.{mark.part + '.' if mark.part else ''}train() before the loop, and again after each "
        "validation; where it is meant, set requires_grad to False",
        places=(*evaluating[:2], *stepped),
        module=mark.part,
        confidence=Confidence.LIKELY,
    )

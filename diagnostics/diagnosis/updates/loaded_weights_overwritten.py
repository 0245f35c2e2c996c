"""A checkpoint was loaded into the model, and its weights were drawn anew before the first step.

What it does: keeps a few numbers of each parameter when a state is loaded before the first step, and compares them when
that step comes. It is told where three quarters of the tensors and more were changed, and what is there now has nothing
in common with what was loaded: weights that were scaled, rounded or averaged go along with it.

Why it matters: a training that is to go on, or to begin at pretrained weights, begins at random ones. Nothing fails,
and the loss falls as that of any training from scratch. Left alone: a head that is made anew, several loads one after
the other, weights on a device.

Fix: initialise first and load then.

Bad:

    model.load_state_dict(torch.load(path))
    model.apply(init_weights)

Good:

    model.apply(init_weights)
    model.load_state_dict(torch.load(path))
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import LoadOverwritten

CODE = "D944"
NAME = "loaded-weights-overwritten"
CLASS = "checkpoint-not-loaded"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_DRAWS = re.compile(
    r"\.apply\(|\breset_parameters\(|\b_?(?:post_)?init_?(?:ialize)?_?(?:weights|parameters)?\(|\binit\.\w+_\("
)


def match(job: Job) -> Match | None:
    """Returns the ranks whose weights are not those that were loaded."""
    found = latest(job, LoadOverwritten)
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    loaded = own(process, mark.path)[:2]
    at = f" at {job.line(loaded[0])}" if loaded else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The weights that were loaded into {mark.root}{at} were drawn anew before the first step: "
        f"{mark.changed} of {mark.tensors} tensors have nothing in common with what was loaded",
        evidence=[
            Evidence(
                source="parameters at the first step, against what was loaded",
                observed=f"{mark.changed} of {mark.tensors} tensors changed, to numbers without relation to it",
                expected="what was loaded",
            )
        ],
        fix="initialise the model first, and load the state then",
        places=(*nearest(job, process, _DRAWS, loaded)[:1], *loaded),
        confidence=Confidence.LIKELY,
    )

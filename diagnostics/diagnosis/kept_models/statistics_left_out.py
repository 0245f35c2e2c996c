"""What was saved lacks the statistics of batch norms that counted while the saved weights were trained.

What it does: looks, at each torch.save of a training, whether the file holds everything that learnt of a model, and
which of its batch norms counted batches since the first step. Told where the file has none of their statistics, and no
later file has them: of a frozen part that was left in train mode, or of norms whose weights alone were saved.

Why it matters: in train mode a batch norm normalizes by the batch and moves its running mean and variance, also where
its weights are frozen: `requires_grad_(False)` is about weights. The part that learnt has learnt from those outputs.
Whoever loads the file beside the part as it was loaded before gets other outputs, and worse results than the log says.
Left alone: a whole model that is saved, a part of what learnt, statistics in another file, frozen parts in eval mode.

Bad:

    for one in model.backbone.parameters():
        one.requires_grad = False
    model.train()                                       # the backbone, too
    torch.save(head_state(model), "head.pt")

Good:

    model.train()
    model.backbone.eval()                               # its statistics stay as they were loaded

or save the statistics with what learnt: state_dict() has them, named_parameters() has not.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.model_marks import StatisticsLeft

CODE = "D969"
NAME = "statistics-left-out"
CLASS = "state-not-kept"  # "wrong-mode" of a part that is frozen
EXAMINES = AppliesTo.SUCCEEDED  # what fails may have saved the rest later

_FREEZES = re.compile(r"\brequires_grad_\(\s*(?:requires_grad\s*=\s*)?False\s*\)|\brequires_grad\s*=\s*False\b")
_TRAINS = re.compile(r"\.train\((?:mode=)?(?:True)?\)")
# Files of models that no torch.save writes.
_WRITES = re.compile(r"\b(?:jit\.save|onnx\.export|save_(?:file|model|pretrained|state)|dcp\.save|async_save)\(")


def match(job: Job) -> Match | None:
    """Returns the ranks that saved what learnt without the statistics it learnt with."""
    found = latest(job, StatisticsLeft, lambda mark: mark.model)
    if not found or lines_like(job, found[0].process, _WRITES, 1):
        return None
    process, mark = found[0].process, found[0].mark
    saved = own(process, mark.path)[:1]
    woken = (*lines_like(job, process, _FREEZES, 1), *lines_like(job, process, _TRAINS, 1)) if mark.frozen else ()
    at = f" at {job.line(saved[0])}" if saved else ""
    file = PurePath(mark.file).name or "A state"
    more = f" and {mark.parts - 1} more" if mark.parts > 1 else ""
    what = "of a part that is frozen" if mark.frozen else "of which the file has the weights"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class="wrong-mode" if mark.frozen else CLASS,
        title=f"{file} is saved{at} with what learnt of {mark.root} and without the statistics that its batch norms "
        f"counted meanwhile in train mode: {mark.part}{more}, {what}",
        evidence=[
            Evidence(
                source=f"{mark.part}: batches counted since the first step",
                observed=f"{mark.batches}, and its running mean and variance are in no file",
                expected="0 of a frozen part, which is in eval mode" if mark.frozen else "in the file with its weights",
            )
        ],
        fix="call .eval() on the frozen part behind each train() of the whole model, or save its statistics too"
        if mark.frozen
        else "save state_dict(), which has the statistics: named_parameters() and parameters() have not",
        places=tuple(dict.fromkeys([*woken, *saved])),
        module=mark.part,
        confidence=Confidence.LIKELY,
    )

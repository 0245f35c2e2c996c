"""A copy of the model is evaluated by running statistics that nobody took along: its batch norm has counted no batch.

What it does: looks at a model that only ever computes without gradients, in eval mode and in rounds between the steps,
whose weights follow those of a model that learns. Told where each of its batch norms is as it was made, mean 0 and
variance 1, while those of the model have counted batches.

Why it matters: in eval mode batch norm divides by its running variance. An average of the weights with the statistics
of step 0 scores badly, or by chance, while the model itself trains well; it is what is saved as the best.

Fix: copy the buffers in each update as well, as torch's own `AveragedModel` does, or compute them anew by `update_bn`
before each evaluation.

Bad:

    for mine, theirs in zip(ema.parameters(), model.parameters()):
        mine.lerp_(theirs, 0.001)

Good:

    for mine, theirs in zip(ema.parameters(), model.parameters()):
        mine.lerp_(theirs, 0.001)
    for mine, theirs in zip(ema.buffers(), model.buffers()):
        mine.copy_(theirs)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.model_marks import CopyLacksStatistics

CODE = "D946"
NAME = "copy-lacks-statistics"
CLASS = "state-not-kept"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_PAIRS = re.compile(r"\bzip\([^()]{0,60}parameters\(.{0,60}parameters\(")
_UPDATES = re.compile(r"\.(?:lerp_|copy_|mul_|add_)\(")


def match(job: Job) -> Match | None:
    """Returns the ranks that evaluate such a copy."""
    found = latest(job, CopyLacksStatistics)
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    judged = own(process, mark.path)
    updates = (lines_like(job, process, _PAIRS) or lines_like(job, process, _UPDATES))[:1]
    at = f" at {job.line(judged[0])}" if judged else ""
    by = f": {job.line(updates[0])} takes the parameters alone" if updates else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The copy {mark.root} that is evaluated{at} follows the model's weights and not its running "
        f"statistics{by}",
        evidence=[
            Evidence(
                source=f"batch norm of the copy, {mark.parts} layers, {mark.part} the first, in {mark.rounds} rounds",
                observed="mean 0, variance 1, no batch counted",
                expected=f"those of the model, which have counted {mark.batches} batches",
            )
        ],
        fix="copy the buffers as well: for mine, theirs in zip(ema.buffers(), model.buffers()): mine.copy_(theirs)",
        places=(*updates, *judged[:2]),
        module=mark.part,
        confidence=Confidence.CONFIRMED,
    )

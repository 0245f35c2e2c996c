"""Weights that two modules were to share have come apart: each module trains its own.

What it does: notes where a program gives a parameter of one module to another one, and looks at a few steps whether
both still hold one tensor. `to_empty()` of a model that was built on the meta device gives each module a new one; so
do `load_state_dict(assign=True)` and sharding the two modules apart. An assignment of the program's own takes the tie
back. Told where one optimizer holds both.

Why it matters: nothing fails. The model is larger than it says, the embedding has the gradient of the input side alone,
and what is loaded later with the tie takes one of the two and drops the other.

Fix: tie the weights again after the model has its memory and its state, and shard both modules as one.

Bad:

    with torch.device("meta"):
        model = Net()                  # ties head.weight to embedding.weight
    model.to_empty(device=device)

Good:

    model.to_empty(device=device)
    model.head.weight = model.embedding.weight
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.model_marks import WeightsUntied

CODE = "D947"
NAME = "weights-untied"
CLASS = "parameter-mismatch"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_SHARDS = re.compile(r"\bfully_shard\(|\bFullyShardedDataParallel\(|\bFSDP\(")
_RENEWS = re.compile(r"\.to_empty\(|\bload_state_dict\(.*assign\s*=\s*True")


def match(job: Job) -> Match | None:
    """Returns the ranks whose weights came apart."""
    found = latest(job, WeightsUntied)
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    tied = own(process, mark.path)[:1]
    renewed = lines_like(job, process, _RENEWS)[:1]
    apart = renewed or (lines_like(job, process, _SHARDS)[:1] if mark.kind == "DTensor" else ())
    at = f" at {job.line(tied[0])}" if tied else ""
    by = f": {job.line(apart[0])} gave each of them a tensor of its own" if apart else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.first} and {mark.second} were tied{at} and are trained apart{by}",
        evidence=[
            Evidence(
                source=f"parameters at step {mark.step}",
                observed=f"{mark.first} and {mark.second} lie in memory of their own; the optimizer holds both",
                expected="one parameter",
            )
        ],
        fix="tie them again once the model has its memory and its state, and shard both modules as one unit",
        places=(*apart, *tied),
        module=mark.second,
        confidence=Confidence.CONFIRMED,
    )

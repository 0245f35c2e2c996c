"""Parameters that DistributedDataParallel was told to ignore, and that train: each rank has its own.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where a wrapper averages
most of a model, was told to ignore some of it, and parameters that began as equals drift apart among those, the list
holds more than what does not train.

Why it matters: DDP says nothing. Only one rank's version is saved, and it never saw what the others learned. Experts
and tables that are divided over ranks begin apart or hand data back and forth, and are left alone.

Bad:

    names = [n for n, _ in model.named_parameters() if n.startswith("embed")]   # "embed_proj.weight", too
    DDP._set_params_and_buffers_to_ignore_for_model(model, names)

Good:

    names = [n for n, p in model.named_parameters() if n.startswith("embed.") and not p.requires_grad]
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.replica_match import not_averaged, others_of
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D533"
NAME = "parameters-ignored"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_IGNORES = re.compile(r"_set_params_and_buffers_to_ignore_for_model\(|_ddp_params_and_buffers_to_ignore\b")


def match(job: Job) -> Match | None:
    """Returns the ranks that train what their wrapper ignores."""
    gap = unsynchronised(job, SyncGap.IGNORED)
    if gap is None or gap.wrapper is None:
        return None
    first = gap.found.processes[0]
    wrapped = own(first, gap.wrapper.made)
    told = lines_like(job, first, _IGNORES)[:1]
    at = f" ({job.line(told[0])})" if told else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"DistributedDataParallel was told to ignore them{at}, and they train",
        fix=f"take {others_of(gap.found, gap.tensors)} off the list of what is ignored{at}, or do not train it",
        places=(*told, *wrapped[:3]),
        confidence=Confidence.LIKELY,
    )

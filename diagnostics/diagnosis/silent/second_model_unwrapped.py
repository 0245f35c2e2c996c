"""One model of the job is wrapped, and another one that is trained is not: its gradients are not averaged.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where a wrapper averages
those of one model, and those of another one were equal at first and drift, that one is in no wrapper.

Why it matters: the wrapped part converges and hides it; a discriminator, head or prompt encoder beside it is another
one on each rank, and only rank 0's is saved.

Fix: wrap it, too, or put both into one module that is wrapped.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import model_in, own, text_of
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D523"
NAME = "second-model-unwrapped"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks that average one model and not the other."""
    gap = unsynchronised(job, SyncGap.SECOND_MODEL)
    if gap is None:
        return None
    first = gap.found.processes[0]
    made = own(first, gap.found.model.made)[:1]
    wrapper = gap.found.last(gap.found.ranks[0]).wrappers[0]
    model = model_in(text_of(job, made[0])) if made else "model"
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"no wrapper holds it, while {wrapper.class_name} beside it is wrapped",
        fix=f"{model} = DistributedDataParallel({model}) before its optimizer is made, or one wrapper around both",
        places=(*made, *own(first, wrapper.made)[:1]),
        confidence=Confidence.LIKELY,
    )

"""The ranks average their gradients and hold different weights.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Equal gradients on different
data were averaged; weights that differ under them were different when the averaging began, or were changed on some
ranks since: other initial weights with a loop that reduces gradients by hand, a checkpoint that only one rank loaded
after the model was wrapped, a layer that was initialised anew.

Why it matters: each rank computes gradients of another model and applies the mean of them to its own. The loss goes
down for a while, and no rank trains what the average belongs to.

Values that a forward pass sets by its first batch (ActNorm) are set after DDP has sent rank 0's.

Fix: load and initialise on every rank before the model is wrapped, or broadcast the parameters once from rank 0.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.wording import sentence, shown_ranks
from diagnostics.diagnosis.replica_match import others_of, replica_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.rates import different_rates
from diagnostics.dynamic.replicas.restored_optimizers import RestoredOptimizers, restored_optimizers
from diagnostics.dynamic.replicas.source_lines import lines_like, model_in, own, text_of
from diagnostics.dynamic.replicas.step_counts import unequal_steps
from diagnostics.dynamic.replicas.tables import gradient_table, value_table
from diagnostics.dynamic.replicas.weights import DifferentWeights, different_weights
from diagnostics.dynamic.replicas.written_parameters import parameter_writes
from diagnostics.record.training_marks import OpenReductions

CODE = "D525"
NAME = "weights-differ"
CLASS = "rank-divergence"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_RESTORE = (
    "restore the optimizer (and the scheduler) on every rank: each reads the file, or rank 0 reads it and sends it by "
    "dist.broadcast_object_list"
)
# How weights are set, the most telling first.
_SET = (re.compile(r"\bload_(?:state_dict|checkpoint)\("), re.compile(r"\binit\.\w+_\(|\breset_parameters\("))


def match(job: Job) -> Match | None:
    """Returns the ranks whose weights differ under equal gradients."""
    apart = different_weights(job)
    if apart is None or unequal_steps(job) is not None or different_rates(job) is not None:  # which say why
        return None
    if any(process.prints.marks_of(OpenReductions) for process in apart.found.processes):  # so does this
        return None
    found = apart.found
    who = shown_ranks(apart.odd) if apart.odd else f"{shown_ranks(found.ranks)}"
    what = others_of(found, apart.tensors)
    since = "from the start" if apart.from_the_start else f"from step {apart.step} on"
    told = f"holds other weights than the rest: {what}" if apart.odd else f"hold different weights: {what}"
    # Equal weights and equal gradients: what parts them then is the state by which the optimizer makes its steps.
    restored = None if apart.from_the_start else restored_optimizers(found)
    why = f": only {shown_ranks(restored.given)} restored the state of the optimizer" if restored is not None else ""
    return replica_match(
        job,
        found,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(who)} {told}, {since}, while the gradients of all are equal{why}",
        evidence=[
            value_table(found, apart.step, apart.tensors[0]),
            gradient_table(found, found.steps[-1], apart.tensors[0]),
            *(_restored_evidence(restored) if restored is not None else ()),
        ],
        fix=_fix(job, apart) if restored is None else _RESTORE,
        places=(*_set(job, apart, restored), *_wrapped(apart)),
        odd=apart.odd,
    )


def _set(job: Job, apart: DifferentWeights, restored: RestoredOptimizers | None) -> tuple[Frame, ...]:
    if restored is not None:
        return restored.path[:2]
    first = apart.found.processes[0]
    guessed = (*_written(job, apart), *(frame for way in _SET for frame in lines_like(job, first, way)[:1]))
    if apart.from_the_start and apart.found.wrapper_of(apart.tensors[0]) is None:
        return (*own(first, apart.found.model.made)[:1], *guessed)  # nothing made them equal before this line
    return guessed


def _written(job: Job, apart: DifferentWeights) -> tuple[Frame, ...]:
    """Returns where the program writes what differs, once it was made: from a rank's own first batch, as a rule."""
    names = {apart.found.model.names[index] for index in apart.tensors}
    return parameter_writes(job, apart.found.processes[0], names)


def _restored_evidence(restored: RestoredOptimizers) -> tuple[Evidence]:
    given, without = shown_ranks(restored.given), shown_ranks(restored.without)
    return (
        Evidence(
            source="record/agents: Optimizer.load_state_dict",
            observed=f"called on {given}, never on {without}",
            expected="called on all ranks, or on none",
        ),
    )


def _wrapped(apart: DifferentWeights) -> tuple[Frame, ...]:
    wrapper = apart.found.wrapper_of(apart.tensors[0])
    return own(apart.found.processes[0], wrapper.made)[:1] if wrapper is not None else ()


def _fix(job: Job, apart: DifferentWeights) -> str:
    written = _written(job, apart)
    if apart.found.wrapper_of(apart.tensors[0]) is not None and written:
        return (
            f"write them from the same values on all ranks: average those before {job.line(written[0])}, "
            "or send rank 0's afterwards, dist.broadcast(parameter.data, src=0)"
        )
    if apart.found.wrapper_of(apart.tensors[0]) is not None:
        return "load weights on every rank before DistributedDataParallel is made, which broadcasts rank 0's then"
    made = own(apart.found.processes[0], apart.found.model.made)[:1]
    model = model_in(text_of(job, made[0])) if made else "model"
    before = f"before {job.line(made[0])}" if made else "once before the first step"
    return f"{before}: for p in {model}.parameters(): dist.broadcast(p.data, src=0)"

"""Parameters that are left out of what the ranks exchange for the others of their model. Pure.

Beside FSDP's shards: what was put into the model afterwards is a plain tensor, of which FSDP knows nothing. Beside
gradients that are reduced by hand: a norm of the same shapes as others, whose gradients are the same on all ranks.
"""

from __future__ import annotations

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.replicas import Replicas, equal
from diagnostics.dynamic.replicas.sharing import ENOUGH, SCALARS, elements, exchanges_in_forward, sums_of
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.dynamic.samples.gradient_sharing import gradient_pairs

_SHARDING = ("fully_shard", "fsdp")


def outside_of_shards(job: Job, found: Replicas) -> tuple[int, ...]:
    """Returns the whole parameters of ranks that share a sharded model, each of which drifts; () where not all do.

    Ranks that also hold parts of one model, or hand their samples to each other, may hold experts of their own.
    """
    if not found.tensors or len(found.tensors) < len(found.model.names) - sum(map(bool, found.model.sharded)):
        return ()
    pairs = {frozenset((one.rank, other.rank)): (group.how, parts) for one, other, group, parts in gradient_pairs(job)}
    told = [pairs.get(frozenset((found.ranks[0], rank))) for rank in found.ranks[1:]]
    if not all(one is not None and one[0] in _SHARDING and not one[1] for one in told):
        return ()
    if any(found.model.wrapper) or exchanges_in_forward(found) or _reduces_by_hand(found):
        return ()
    long = found.steps[-1] - found.steps[0] >= ENOUGH
    return found.tensors if long and all(map(found.drifts, found.tensors)) else ()


def _reduces_by_hand(found: Replicas) -> bool:
    """Whether anything but shards, as large as one of these parameters or half of them all, is exchanged."""
    sizes = {size for size in map(elements, found.model.shapes) if size > SCALARS}
    whole = sum(map(elements, found.model.shapes))
    calls = (call for process in found.processes if process.agent is not None for call in process.agent.collectives)
    return any(
        (elements(call.shape) in sizes or 2 * elements(call.shape) >= whole)
        for call in calls
        if call.op not in operations.CARRY_NOTHING and call.op not in operations.OF_SHARDS
    )


def left_out_of_reduction(found: Replicas) -> tuple[int, ...]:
    """Returns the parameters of norms that began equal and drift, while those of norms like them have equal gradients.

    A module counts by its name and shapes, and only where all of them have one dimension: a layer that is cut into
    parts may begin with equal zeros and ones, too, and have a weight of two dimensions beside them.
    """
    if any(found.model.wrapper) or any(found.model.sharded) or exchanges_in_forward(found):
        return ()
    if found.steps[-1] - found.steps[0] < ENOUGH or not all(map(sums_of, found.processes)):
        return ()
    modules: dict[str, list[int]] = {}
    for index in found.tensors:
        modules.setdefault(found.model.names[index].rpartition(".")[0], []).append(index)
    flat = {name: own for name, own in modules.items() if name and all(_is_flat(found, index) for index in own)}
    kept = {_kind(found, own) for own in flat.values() if all(_is_shared(found, index) for index in own)}
    return tuple(
        index
        for own in flat.values()
        if _kind(found, own) in kept and all(_parts(found, index) for index in own)
        for index in own
    )


def reduced_at(found: Replicas, process: JobProcess) -> tuple[Frame, ...]:
    """Returns the lines, innermost first, that last summed up as much as parameters of one dimension hold."""
    flat = [elements(shape) for shape in found.model.shapes if shape.isdecimal()]
    for call in reversed(sums_of(process)):
        if call.shape.isdecimal() and min(flat, default=0) <= elements(call.shape) <= sum(flat):
            return own(process, call.path)
    return ()


def _is_flat(found: Replicas, index: int) -> bool:
    shape = found.model.shapes[index]
    return shape.isdecimal() and elements(shape) > SCALARS


def _kind(found: Replicas, own: list[int]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((found.model.names[index].rpartition(".")[2], found.model.shapes[index]) for index in own))


def _is_shared(found: Replicas, index: int) -> bool:
    """Whether a parameter and its gradient are the same on all ranks at each look, and the gradient is not zero."""
    last = found.gradients(found.steps[-1], index).values()
    told = all(one.read and not one.is_zero for one in last)
    same = all(equal(found.gradients(step, index)) for step in found.steps)
    return told and same and found.first_difference(index) is None


def _parts(found: Replicas, index: int) -> bool:
    return found.first_difference(index) != found.steps[0] and found.drifts(index)

"""Samplers that give each rank its own samples, though several ranks compute one model together. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.training import operation
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import SAMPLER
from diagnostics.static.execution.values import Const, Made, Value, sources

_PARALLELIZE = "torch.distributed.tensor.parallel.parallelize_module"
# Who gets batches by one of these has the same ones.
_SENDS = frozenset([*operations.HAND_OVER, *operations.TO_ALL, *operations.GATHERED_TENSORS])
_WORLD = frozenset(["torch.distributed.get_rank", "torch.distributed.get_world_size"])


def samples_by_global_rank(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (sampler by the rank in the world, parallelize_module) where ranks of one model get other samples."""
    cuts = [one for one in execution.events if one.name == _PARALLELIZE and not any(
        _is_of_batch(each) for given in (*one.args, *one.keywords.values()) for each in sources(given))]  # fmt: skip
    if not cuts or any(operation(one) in _SENDS and one.loops for one in execution.events):
        return
    for one in execution.named(SAMPLER):
        if all(_is_of_world(given) for given in (one.argument(1, "num_replicas"), one.argument(2, "rank"))):
            yield one, cuts[0]


def _is_of_world(given: Value | None) -> bool:
    if given is None or (isinstance(given, Const) and given.value is None):
        return True
    return isinstance(given, Made) and given.name in _WORLD and not given.args and not given.keywords


def _is_of_batch(value: Value) -> bool:
    """Whether a plan says that inputs are cut along the batch: then other samples are what it wants."""
    dimension = value.argument(0, "dim") if isinstance(value, Made) and value.name.endswith(".Shard") else None
    return isinstance(dimension, Const) and dimension.value == 0

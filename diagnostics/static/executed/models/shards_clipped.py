"""Gradients of sharded parameters that are clipped by the norm of one rank's shards. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.training import is_part, parameters_of, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Value, sources

_CLIP = "torch.nn.utils.clip_grad_norm_"
FSDP = "torch.distributed.fsdp.FullyShardedDataParallel"
_WHOLE = "NO_SHARD"
_SHARDING = frozenset(
    [FSDP, "torch.distributed.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard",
     "torch.distributed._composable.fsdp.fully_shard.fully_shard"]
)  # fmt: skip
_LOCAL = frozenset([".to_local", "._local_tensor"])
_WHOLE_TENSORS = frozenset(["full_tensor", "redistribute"])
# What scales gradients in place: where the factor stands among the arguments; 0: the gradient is the owner.
_SCALINGS = {".mul_": 0, ".div_": 0, "torch._foreach_mul_": 1, "torch._foreach_div_": 1}


def clipped_by_own_shards(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (clipping, the FSDP model whose parameters are clipped)."""
    for one in execution.named(_CLIP):
        model = _model_of(one.argument(0, "parameters"))
        wrapper = wrapper_of(model)
        if wrapper is not None and wrapper.name == FSDP and is_sharded(wrapper):
            yield one, wrapper


def _model_of(given: Value | None) -> Value | None:
    """Returns the model whose parameters are given: all of them, a list, or those that a test lets through."""
    for one in sources(given):
        found = parameters_of(one)
        if found is not None:
            return found
    return None


def is_sharded(wrapper: Made) -> bool:
    """Whether the parameters are surely in parts: by default they are, else by the strategy that is named."""
    if "**" in wrapper.keywords:
        return False
    strategy = wrapper.argument(2, "sharding_strategy")
    if strategy is None:
        return True
    named = [getattr(one, "name", "") for one in sources(strategy)]
    return any("SHARD" in one for one in named) and not any(one.endswith(_WHOLE) for one in named)


def scaled_by_own_norm(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (scaling of gradients, sharding) by a number that a rank computes from its own shards alone."""
    shardings = [one for one in execution.events if one.name in _SHARDING and one.args]
    own = OwnData(execution) if shardings else None
    told: set[int] = set()
    for one in execution.events if own is not None else ():
        place = _SCALINGS.get(one.name)
        scaled = one.owner if place == 0 else one.args[0] if place is not None and one.args else None
        if scaled is None or place is None or len(one.args) <= place or id(one.node) in told:
            continue
        factor = one.args[place]
        sharding = next((each for each in shardings if _is_own_gradient(scaled, each)), None)
        if sharding is None or not _is_own_gradient(factor, sharding) or own is None or own.is_agreed(factor):
            continue
        if not any(isinstance(each, Made) and each.name.rpartition(".")[2] in _WHOLE_TENSORS
                   for each in sources(factor)):  # fmt: skip
            told.add(id(one.node))
            yield one, sharding


def _is_own_gradient(value: Value, sharding: Event) -> bool:
    """Whether a value is made of the part of a gradient that this rank holds."""
    found = [one for one in sources(value) if isinstance(one, Made)]
    if sharding.name != FSDP and not any(one.name in _LOCAL for one in found):
        return False  # operations on DTensors are on the whole
    if sharding.name == FSDP and not (isinstance(sharding.value, Made) and is_sharded(sharding.value)):
        return False
    model = sharding.value if sharding.name == FSDP else sharding.args[0]
    return any(
        one.name == ".grad" and (whole := parameters_of(one.owner)) is not None and (
            whole is model or (model is not None and sharding.name != FSDP and is_part(whole, model)))
        for one in found
    )  # fmt: skip

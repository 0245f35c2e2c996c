"""Gradients of sharded parameters that are clipped by the norm of one rank's shards. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import parameters_of, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Value, sources

_CLIP = "torch.nn.utils.clip_grad_norm_"
_FSDP = "torch.distributed.fsdp.FullyShardedDataParallel"
_WHOLE = "NO_SHARD"


def clipped_by_own_shards(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (clipping, the FSDP model whose parameters are clipped)."""
    for one in execution.named(_CLIP):
        model = _model_of(one.argument(0, "parameters"))
        wrapper = wrapper_of(model)
        if wrapper is not None and wrapper.name == _FSDP and _is_sharded(wrapper):
            yield one, wrapper


def _model_of(given: Value | None) -> Value | None:
    """Returns the model whose parameters are given: all of them, a list, or those that a test lets through."""
    for one in sources(given):
        found = parameters_of(one)
        if found is not None:
            return found
    return None


def _is_sharded(wrapper: Made) -> bool:
    """Whether the parameters are surely in parts: by default they are, else by the strategy that is named."""
    if "**" in wrapper.keywords:
        return False
    strategy = wrapper.argument(2, "sharding_strategy")
    if strategy is None:
        return True
    named = [getattr(one, "name", "") for one in sources(strategy)]
    return any("SHARD" in one for one in named) and not any(one.endswith(_WHOLE) for one in named)

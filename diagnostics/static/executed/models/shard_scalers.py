"""Gradient scalers that look for overflows in one rank's shards alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.models.shards_clipped import FSDP, is_sharded
from diagnostics.static.executed.training import parameters_of, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, sources

_SCALERS = ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.amp.grad_scaler.GradScaler",
            "torch.cuda.amp.grad_scaler.GradScaler")  # fmt: skip


def steps_by_own_shards(execution: Execution) -> Iterator[tuple[Event, Made, Made]]:
    """Yields (step, scaler, FSDP model) where a scaler that asks no other rank steps an optimizer of shards."""
    told: set[int] = set()
    for one in execution.named(".step"):
        scaler = one.owner
        if not isinstance(scaler, Made) or scaler.name not in _SCALERS or id(scaler) in told or not one.args:
            continue
        enabled = scaler.keywords.get("enabled")
        if isinstance(enabled, Const) and not enabled.value:
            continue
        model = _sharded_model(one.args[0])
        if model is not None:
            told.add(id(scaler))
            yield one, scaler, model


def _sharded_model(optimizer: Value) -> Made | None:
    """Returns the FSDP object whose parameters an optimizer steps."""
    for one in sources(optimizer):
        wrapper = wrapper_of(parameters_of(one))
        if wrapper is not None and wrapper.name == FSDP and is_sharded(wrapper):
            return wrapper
    return None

"""Optimizers that hold parameters which sharding replaces afterwards. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import is_part, parameters_of, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Value, sources

_SHARDS = frozenset(
    ["torch.distributed.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard", "fully_shard",
     "torch.distributed.fsdp.FullyShardedDataParallel"]
)  # fmt: skip


def optimizers_before_sharding(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (optimizer, sharding of its model behind it, step)."""
    events = execution.events
    for at, made in enumerate(events):
        if not made.name.startswith("torch.optim.") or "lr_scheduler" in made.name or made.value is None:
            continue
        model = _model_of(made)
        if model is None or any(_shards(one, model) for one in events[:at]):
            continue
        sharded = next((one for one in events[at:] if _shards(one, model) and _same_way(one, made)), None)
        step = next((one for one in events[at:] if one.name == ".step" and one.owner is made.value), None)
        if sharded is not None and step is not None and not _given_anew(execution, made.value):
            yield made, sharded, step


def _model_of(made: Event) -> Value | None:
    """Returns the model, in no wrapper, whose parameters an optimizer was made of."""
    for one in sources(made.argument(0, "params")):
        found = parameters_of(one) if isinstance(one, Made) else None
        if found is not None:
            return found if wrapper_of(found) is None else None
    return None


def _given_anew(execution: Execution, optimizer: Value) -> bool:
    """Whether something writes other parameters into an optimizer."""
    return any(
        (one.name == ".add_param_group" and one.owner is optimizer)
        or (one.name.startswith("set ") and any(isinstance(each, Made) and each.name == ".param_groups"
                                               and each.owner is optimizer for each in sources(one.owner)))
        for one in execution.events
    )  # fmt: skip


def _shards(event: Event, model: Value) -> bool:
    given = event.argument(0, "module") if event.name in _SHARDS else None
    return given is not None and (given is model or is_part(given, model) or is_part(model, given))


def _same_way(one: Event, other: Event) -> bool:
    """Whether one comes where the other came: no test parts them."""
    return {id(each.node) for each in one.guards} <= {id(each.node) for each in other.guards}

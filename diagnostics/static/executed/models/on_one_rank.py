"""Weights that are changed on some ranks only, of a model that all ranks then use. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.models.averaged import CHANGES, bare
from diagnostics.static.executed.one_rank import ALL_RANKS, led_by, ranks_at
from diagnostics.static.executed.training import is_part, operation, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import WRAPPERS
from diagnostics.static.execution.values import Instance, Made, Value, sources

_LOADS = ".load_state_dict"
_TENSORS = frozenset([".parameters", ".named_parameters", ".state_dict"])
_STARTS = "torch.distributed.init_process_group"
# What a library does about it: it hands out the weights, or all ranks load the same.
_SHARES = ("broadcast_parameters", "_sync_module_states", "sync_params", "set_model_state_dict", "set_state_dict")


def changed_on_some(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (change of a model's weights, its use on every rank) where nothing hands the weights out afterwards."""
    events = execution.events
    begun = next((at for at, one in enumerate(events) if one.name == _STARTS), None)
    told: list[Value] = []
    for at, one in enumerate(events) if begun is not None else ():
        model = _changed(one, events)
        who = ranks_at(one) if model is not None and one.guards else None
        if model is None or not who or who == ALL_RANKS or any(model is each for each in told):
            continue
        if _is_handed_out(model, at, events):
            continue
        used = _use_by_all(model, at, events)
        if used is not None and not _is_changed_by_all(model, one, events):
            told.append(model)
            yield led_by(one), used


def _changed(event: Event, events: list[Event]) -> Value | None:
    """Returns the model whose weights an event changes."""
    if event.name == _LOADS and isinstance(bare(event.owner), (Instance, Made)) and _is_model(event.owner, events):
        return bare(event.owner)
    if event.loops and event.without_gradients and event.name in CHANGES:
        return next((copy for copy in _copies(events) if _is_of(event.owner, copy)), None)
    return None


def _is_of(value: Value | None, model: Value) -> bool:
    """Whether a tensor is one of a model's parameters, or of its state."""
    return any(isinstance(one, Made) and one.name in _TENSORS and bare(one.owner) is model for one in sources(value))


def _is_model(owner: Value | None, events: list[Event]) -> bool:
    """Whether something that loads a state is called as a model, and no optimizer."""
    return wrapper_of(owner) is not None or any(one.name == "()" and bare(one.owner) is bare(owner) for one in events)


def _copies(events: list[Event]) -> Iterator[Value]:
    return (one.value for one in events if one.name == "copy.deepcopy" and one.value is not None)


def _is_handed_out(model: Value, at: int, events: list[Event]) -> bool:
    """Whether ranks hand out weights behind the change, or the model is wrapped then: DDP does."""
    for one in events[at:]:
        name = operation(one)
        if name in operations.NEED_ROOT or name in operations.PICKLED or one.name.endswith(_SHARES):
            return True
        if name and any(_is_of(given, model) for given in one.args):
            return True
        inner = one.argument(0, "module") if one.name in WRAPPERS else None
        if inner is not None and (inner is model or is_part(model, inner)):
            return True
    return False


def _use_by_all(model: Value, at: int, events: list[Event]) -> Event | None:
    """Returns a call of the model to which every rank comes: behind the change, or in a loop with it."""
    loops = {loop.node for loop in events[at].loops}
    for place, one in enumerate(events):
        again = any(loop.node in loops for loop in one.loops)
        if one.name == "()" and bare(one.owner) is model and (place > at or again) and ranks_at(one) == ALL_RANKS:
            return one
    return None


def _is_changed_by_all(model: Value, change: Event, events: list[Event]) -> bool:
    """Whether the others change it as well, in an arm of their own."""
    return any(
        one is not change
        and _changed(one, events) is model
        and (ranks_at(one) is None or ranks_at(one) != ranks_at(change))
        for one in events
    )

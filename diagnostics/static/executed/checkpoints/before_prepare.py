"""States that Accelerate loads before it was given anything to load them into. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import loader_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Items, Made, Value, options

_MAKER = "accelerate.Accelerator"
_PREPARES = frozenset([".prepare", ".prepare_model", ".prepare_optimizer", ".prepare_scheduler"])
_HANDS_ON = frozenset([".register_for_checkpointing", ".register_load_state_pre_hook"])  # what loads the rest itself


def loaded_before_prepare(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (load_state, the first prepare, which comes behind it)."""
    for at, loaded in enumerate(execution.events):
        owner = loaded.owner
        if loaded.name != ".load_state" or loaded.is_handled or not isinstance(owner, Made) or owner.name != _MAKER:
            continue
        before, behind = execution.events[:at], execution.events[at + 1 :]
        if any(_may_prepare(one, owner) for one in before):
            continue
        prepared = next((one for one in behind if one.name in _PREPARES and _is_of(one, owner)
                         and _in_one_run(one, loaded) and not _gives_loaders_alone(one)), None)  # fmt: skip
        if prepared is not None:
            yield loaded, prepared


def _is_of(event: Event, owner: Value) -> bool:
    return any(one is owner for one in options(event.owner))


def _may_prepare(event: Event, owner: Value) -> bool:
    """Whether an event gives an accelerator what it loads into: by prepare, by a hook, or somewhere in a library."""
    if _is_of(event, owner):
        return event.name.startswith(".prepare") or event.name in _HANDS_ON
    given = (*event.args, *event.keywords.values())
    return any(one is owner for value in given for one in options(value)) and event.value is not owner


def _in_one_run(one: Event, other: Event) -> bool:
    """Whether no test parts two events."""
    ways = {id(guard.node): guard.taken for guard in other.guards}
    return not one.is_handled and all(ways.get(id(guard.node), guard.taken) is guard.taken for guard in one.guards)


def _gives_loaders_alone(event: Event) -> bool:
    """Whether nothing that has a state of its own is prepared."""
    given = [each for one in event.args for each in (one.items if isinstance(one, Items) else (one,))]
    return bool(given) and all(loader_of(one) is not None for one in given)

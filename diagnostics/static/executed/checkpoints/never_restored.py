"""States that a checkpoint holds, and that a run which goes on from it does not take back. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Mapped, Value, options, sources

_COPY = "copy.deepcopy"
_AVERAGES = ("EMA", "Ema", "ema", "AveragedModel", "MovingAverage")
_SCHEDULES = "torch.optim.lr_scheduler."
_CHANGES = frozenset(
    [".lerp_", ".mul_", ".add_", ".copy_", ".sub_", "set data", ".update", ".update_parameters", ".step"]
)
_MOST_OWNERS = 6


@dataclass(frozen=True, slots=True)
class Unrestored:
    """`key` is saved and not given back; `owner` is whose state it is, `restored` the load of the optimizer's state."""

    key: str
    owner: Made
    saved: Event
    restored: Event


def never_restored(execution: Execution) -> Iterator[Unrestored]:
    """Yields the averages and schedules whose state is saved beside the optimizer's, which alone is given back.

    Which checkpoint it is tells the key of the optimizer's state, not the path: that is often an option.
    """
    saves = [one for one in execution.named("torch.save") if isinstance(one.argument(0, "obj"), Mapped)]
    for restored in execution.named(".load_state_dict") if saves else ():
        key = _key_of(restored) if _is_optimizer(restored.owner) else None
        saved = next((one for one in saves if key is not None and _holds_state(one, key, restored.owner)), None)
        for name, owner in _states(saved) if saved is not None else ():
            if _is_made_before(execution, owner, restored) and not _is_given_back(execution, owner, name, restored):
                yield Unrestored(name, owner, saved, restored)  # type: ignore[arg-type] # asked for above


def _key_of(event: Event) -> str | None:
    """Returns the key under which a state was found in a file that torch.load read."""
    given = event.argument(0, "state_dict")
    owner = given.owner if isinstance(given, Made) and given.name == "[]" else None
    loaded = isinstance(owner, Made) and owner.name == "torch.load"
    key = given.args[0] if loaded and isinstance(given, Made) else None
    return key.value if isinstance(key, Const) and isinstance(key.value, str) else None


def _holds_state(saved: Event, key: str, optimizer: Value | None) -> bool:
    table = saved.argument(0, "obj")
    held = options(table.fields.get(key)) if isinstance(table, Mapped) else ()
    return any(isinstance(one, Made) and one.name == ".state_dict" and one.owner is optimizer for one in held)


def _states(saved: Event) -> Iterator[tuple[str, Made]]:
    """Yields (key, whose state) of averages and schedules in a dict that is saved."""
    table = saved.argument(0, "obj")
    for key, value in table.fields.items() if isinstance(table, Mapped) else ():
        for one in options(value) if isinstance(value, Value) and isinstance(key, str) else ():
            owner = one.owner if isinstance(one, Made) and one.name == ".state_dict" else None
            if isinstance(owner, Made) and owner.name == ".module":
                owner = owner.owner
            if isinstance(owner, Made) and _is_kept_up(owner):
                yield key, owner


def _is_kept_up(owner: Made) -> bool:
    if owner.name.startswith(_SCHEDULES):
        return "last_epoch" not in owner.keywords
    return owner.name == _COPY or owner.name.endswith(_AVERAGES)


def _is_optimizer(value: Value | None) -> bool:
    made = value if isinstance(value, Made) else None
    return made is not None and made.name.startswith("torch.optim.") and not made.name.startswith(_SCHEDULES)


def _is_made_before(execution: Execution, owner: Made, restored: Event) -> bool:
    """Whether something was made before the run was taken up again, and is changed behind it, in a loop."""
    behind = False
    made = False
    for one in execution.events:
        behind = behind or one is restored
        made = made or (not behind and one.value is owner)
        if behind and one.loops and one.name in _CHANGES and any(each is owner for each in _owners(one)):
            return made
    return False


def _owners(event: Event) -> Iterator[Value]:
    """Yields what an event is done to, and what that is an item or a part of."""
    value = event.owner
    for _ in range(_MOST_OWNERS):
        if value is None:
            return
        yield value
        value = value.owner if isinstance(value, Made) else None


def _is_given_back(execution: Execution, owner: Made, key: str, restored: Event) -> bool:
    """Whether something may set a state again: a load of its own, a reader of the key, steps that catch up."""
    for one in execution.events:
        loads = one.name in (".load_state_dict", ".load") or "load" in one.name
        if loads and any(each is owner for given in (one.owner, *one.args) for each in sources(given)):
            return True
        if one.name == "set last_epoch" and one.owner is owner:
            return True
    functions = {restored.function, *(one.function for one in restored.frames)}
    files = {one.file: one.source for one in functions}
    return any(_reads(node, key) for source in files.values() if source.tree is not None
               for node in ast.walk(source.tree))  # fmt: skip


def _reads(node: ast.AST, key: str) -> bool:
    """Whether a node reads an item under a key: `state["ema"]`, `state.get("ema")`, `"ema" in state`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant) and node.slice.value == key
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
        return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == key
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and node.left.value == key

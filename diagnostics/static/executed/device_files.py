"""Tensors that are saved as they lie on a GPU, and loaded by data workers. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.saved_files import is_gpu
from diagnostics.static.executed.training import is_part
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.implied import WORKER
from diagnostics.static.execution.values import Const, Made, Value, same, sources

_SHORT = 3  # a text in two paths that says nothing


def saved_on_gpu_for_workers(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (torch.save of what a model on a GPU gave, torch.load of such files in a data worker, to that GPU)."""
    loads = [
        one for one in execution.named("torch.load") if _in_worker(one) and one.argument(1, "map_location") is None
    ]
    if not loads:
        return
    moved = [one.owner for one in execution.events if _moves(one) and one.owner is not None]
    for saved in execution.named("torch.save"):
        given = saved.argument(0, "obj")
        if not any(_lies_on_gpu(one, moved) for one in sources(given)) or _is_brought_back(execution, given):
            continue
        found = next((one for one in loads if _of_one_folder(saved.argument(1, "f"), one.argument(0, "f"))), None)
        if found is not None:
            yield saved, found


def _in_worker(event: Event) -> bool:
    return any(isinstance(one, Made) and one.name == WORKER for one in event.contexts)


def _moves(event: Event) -> bool:
    return event.name == ".cuda" or (event.name == ".to" and is_gpu(event.argument(0, "device")))


def _lies_on_gpu(value: Value, moved: list[Value]) -> bool:
    """Whether a value is what a model gave that was moved to a GPU."""
    if not isinstance(value, Made) or value.name != "()" or value.owner is None:
        return False
    return any(one is value.owner or is_part(value.owner, one) for one in moved)


def _is_brought_back(execution: Execution, given: Value | None) -> bool:
    """Whether something that is saved was moved to the CPU, or is a state, which is copied when it is loaded."""
    found = {id(one): one for one in sources(given)}
    back = (one for one in execution.events if one.name in (".cpu", ".numpy", ".tolist", ".item")
            or (one.name == ".to" and not is_gpu(one.argument(0, "device"))))  # fmt: skip
    states = any(isinstance(one, Made) and one.name == ".state_dict" for one in found.values())
    return states or any(id(one.owner) in found for one in back)


def _of_one_folder(saved: Value | None, loaded: Value | None) -> bool:
    """Whether two paths come from one: an option, or a text that stands in both."""
    mine = [one for one in sources(saved) if _names(one)]
    return any(one is other or same(one, other) for other in sources(loaded) if _names(other) for one in mine)


def _names(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str) and len(value.value) > _SHORT and not value.value.startswith((".", "*"))
    return isinstance(value, Made) and value.name.startswith(".") and "default" in value.keywords

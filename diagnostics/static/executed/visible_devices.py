"""GPUs that are hidden by CUDA_VISIBLE_DEVICES after CUDA has read that variable, which it does once. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.static.executed.training import runs_beside
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Name, Value, sources

VARIABLE = "CUDA_VISIBLE_DEVICES"
_HOME = "torch.cuda."
# What asks the driver. What only keeps a number for later (manual_seed, memory_allocated) or asks NVML does not.
_ASKS = frozenset(
    ["is_available", "get_device_properties", "get_device_name", "get_device_capability", "current_device",
     "set_device", "init", "synchronize", "mem_get_info", "is_bf16_supported", "current_stream", "Stream",
     "can_device_access_peer"]
)  # fmt: skip
_MOVES = (".cuda", ".to")
# What begins another process, which reads the variable for itself.
_BEGINS = (
    "subprocess.", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "torch.multiprocessing.", "multiprocessing.",
    "ray.",
)  # fmt: skip
_METHODS = frozenset([".start", ".submit", ".apply_async", ".remote"])


def hidden_too_late(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (setting of the variable, what had asked CUDA before it) where this process goes on to use CUDA."""
    events = execution.events
    for at, one in enumerate(events):
        if not _hides(one) or runs_beside(one) or one.is_handled:
            continue
        begun = max((place for place in range(at) if _begins(events[place])), default=-1)
        asked = next((each for each in events[begun + 1 : at] if _asks(each) and _comes_before(each, one)), None)
        behind = events[at + 1 :]
        if asked is not None and not any(_begins(each) for each in behind) and _used(behind):
            yield one, asked
            return


def _hides(event: Event) -> bool:
    """Whether an event sets the variable to other GPUs than the first ones, which are there in any case."""
    if event.name != "set []" or not isinstance(event.owner, Name) or event.owner.name != "os.environ":
        return False
    key, value = (*event.args, None, None)[:2]
    if not isinstance(key, Const) or key.value != VARIABLE:
        return False
    if any(isinstance(one, Const) and one.value == VARIABLE for one in sources(value)):
        return False  # as it was
    return not (isinstance(value, Const) and _is_first(str(value.value)))


def _is_first(text: str) -> bool:
    numbers = [one.strip() for one in text.split(",")]
    return numbers == [str(at) for at in range(len(numbers))]


def _begins(event: Event) -> bool:
    return event.name.startswith(_BEGINS) or event.name in _METHODS


def _asks(event: Event) -> bool:
    if runs_beside(event) or event.is_handled:
        return False
    if event.name.startswith(_HOME):
        return event.name.removeprefix(_HOME) in _ASKS
    if event.name == ".cuda":
        return True
    place = event.args[:1] if event.name == ".to" else ()
    return _is_cuda(*place, event.keywords.get("device"))


def _is_cuda(*given: Value | None) -> bool:
    """Whether something is placed on a GPU: where that is a choice, CUDA was asked for it before."""
    return any(isinstance(one, Const) and str(one.value).startswith("cuda") for one in given) or any(
        isinstance(one, Made) and one.name == "torch.device" and _is_cuda(*one.args[:1]) for one in given
    )


def _comes_before(asked: Event, setting: Event) -> bool:
    """Whether CUDA was asked whenever the variable is set: under the same tests, or ones of CUDA itself."""
    mine = {(id(one.node), one.taken) for one in setting.guards}
    return all(
        (id(one.node), one.taken) in mine
        or (isinstance(one.test, Made) and one.test.name.startswith(_HOME) and one.taken)
        for one in asked.guards
    ) and not any(one not in setting.loops for one in asked.loops if not _goes_over_gpus(one.over))


def _goes_over_gpus(over: Value | None) -> bool:
    return any(isinstance(one, Made) and one.name == "torch.cuda.device_count" for one in sources(over))


def _used(events: Sequence[Event]) -> bool:
    return any(one.name.startswith(_HOME) or one.name in _MOVES or one.name == "torch.device" for one in events)

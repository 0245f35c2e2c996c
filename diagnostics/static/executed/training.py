"""Wrapped models, loaders, losses and what ranks do together, in a program that was run. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.implied import WORKER
from diagnostics.static.execution.library import BATCHES, LOADER, SAME_ITEMS, SAMPLER, WRAPPERS
from diagnostics.static.execution.values import Instance, Made, Name, Value, options, same, sources

_HOME = "torch.distributed."
_MOST_PARTS = 200
_BESIDE = ("Thread", ".submit", ".apply_async", "hook", WORKER)
_PARAMETERS = (".parameters", ".named_parameters")


def wrapper_of(value: Value | None) -> Made | None:
    """Returns the DDP or FSDP object that a value is, behind torch.compile as well."""
    while isinstance(value, Made) and value.name in ("torch.compile", "torch.jit.script"):
        value = value.argument(0, "model")
    return value if isinstance(value, Made) and value.name in WRAPPERS else None


def wraps(execution: Execution) -> Iterator[tuple[int, Event, Value]]:
    """Yields (place in order, event, model) where a model is wrapped."""
    for at, one in enumerate(execution.events):
        if one.name in WRAPPERS and not one.guards and (model := one.argument(0, "module")) is not None:
            yield at, one, model


def operation(event: Event) -> str:
    """Returns the operation of torch.distributed that an event is, "" for any other."""
    last = event.name.rpartition(".")[2]
    return last if event.name == _HOME + last and last in operations.MEETINGS else ""


def is_wrapped_backward(event: Event) -> bool:
    """Whether an event is the backward pass of what a wrapped model gave, which reduces the gradients."""
    loss = event.owner if event.name == ".backward" else event.argument(0, "loss")
    if event.name != ".backward" and event.name.rpartition(".")[2] != "backward":
        return False
    return any(isinstance(one, Made) and one.name == "()" and wrapper_of(one.owner) for one in sources(loss))


def meets(event: Event) -> bool:
    """Whether every rank has to come to an event."""
    reduces = is_wrapped_backward(event) and not event.without_gradients and not is_kept_local(event)
    return bool(operation(event)) or reduces


def is_kept_local(event: Event) -> bool:
    """Whether an event is in a block of DDP's no_sync(), in whose backward nothing is reduced."""
    contexts = (one for one in event.contexts if isinstance(one, Made) and one.name == ".no_sync")
    wrappers = [wrapper_of(one.owner) for one in contexts]
    return any(one is not None and one.name.endswith("DistributedDataParallel") for one in wrappers)


def is_distributed(execution: Execution) -> bool:
    """Whether a script takes part in a process group."""
    return any(one.name == _HOME + "init_process_group" or one.name in WRAPPERS for one in execution.events)


def runs_beside(event: Event) -> bool:
    """Whether an event is in a thread, a hook or a data worker: not in the order of the program."""
    return any(isinstance(one, Made) and one.name.endswith(_BESIDE) for one in event.contexts)


def loader_of(value: Value | None) -> Made | None:
    """Returns the DataLoader behind `enumerate`, a progress bar and the like; None where it is none, or another's."""
    for _ in range(6):
        if not isinstance(value, Made):
            return None
        if value.name == LOADER:
            return value
        if value.name not in SAME_ITEMS or not value.args:
            return None
        value = value.args[0]
    return None


def sampler_of(loader: Made) -> Made | None:
    """Returns the DistributedSampler of a DataLoader, also one that its sampler or batch sampler goes over."""
    for given in (loader.argument(3, "sampler"), loader.argument(4, "batch_sampler")):
        inner = given.argument(0, "sampler") if isinstance(given, Made) and given.name == BATCHES else given
        held = parts(inner) if isinstance(inner, Instance) else (inner,)
        for one in held:
            if isinstance(one, Made) and one.name == SAMPLER:
                return one
    return None


def is_part(value: Value | None, whole: Value) -> bool:
    """Whether a value is a model, a module in it, or parameters of these."""
    while isinstance(value, Made) and value is not whole:
        if value.name in WRAPPERS:
            value = value.argument(0, "module")
        elif value.owner is not None:
            value = value.owner
        elif value.args and (value.name in SAME_ITEMS or value.name == "dict"):
            value = value.args[0]  # the modules of a list are those that it was made of
        else:
            break
    return value is not None and any(one is value for one in parts(whole))


def parts(whole: Value) -> Iterator[Value]:
    """Yields an object and what its attributes hold, and theirs."""
    waiting, seen = [whole], set[int]()
    while waiting and len(seen) < _MOST_PARTS:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, Name):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, Instance):
            waiting += [each for value in one.fields.values() for each in options(value)]
        elif isinstance(one, Made) and not one.name.startswith((".", "(", "[")):
            waiting += [each for value in (*one.args, *one.fields.values()) for each in options(value)]


def parameters_of(value: Value | None) -> Value | None:
    """Returns the model whose parameters a value is: `model.parameters()`, an item of it."""
    while isinstance(value, Made) and value.name in ("item", "[]", "list", "filter"):
        value = value.owner if value.owner is not None else value.args[-1] if value.args else None
    return value.owner if isinstance(value, Made) and value.name in _PARAMETERS else None


def within(event: Event, outer: Event) -> bool:
    """Whether an event is in a loop that `outer` begins."""
    return any(loop.node is outer.node and same(loop.over, outer.owner) for loop in event.loops)

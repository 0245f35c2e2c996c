"""Lengths that CTC and transducer losses are told, and what a model leaves of its frames. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import MOST_SEEN, Const, Items, Made, Value, made_of, same, sources

_LOSSES = frozenset(["torch.nn.functional.ctc_loss", "torch.ctc_loss", "torchaudio.functional.rnnt_loss"])
_MODULES = frozenset(["torch.nn.CTCLoss", "torchaudio.transforms.RNNTLoss"])
_DIVIDES = frozenset(["//", "/", ">>", ".div", ".floor_divide", ".true_divide", "torch.div", "torch.floor_divide",
                      "torch.ceil", "torch.floor", "math.ceil", "math.floor"])  # fmt: skip
_SAME = frozenset([".to", ".cuda", ".cpu", ".long", ".int", ".clone", ".detach", ".squeeze", ".view", ".flatten"])
_CONVOLUTIONS = ("Conv1d", "Conv2d", "Conv3d")
_POOLS = ("MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d")
_HOLDS = frozenset(["torch.nn.Sequential", "torch.nn.ModuleList"])


def told_lengths_of_input(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (loss, what takes frames away) where the loss is told how many there were before."""
    for one in execution.events:
        if not _is_loss(one):
            continue
        given, told = (
            one.argument(0, "log_probs") or one.argument(0, "logits"),
            _plain(one.argument(2, "input_lengths")),
        )
        told = told or _plain(one.argument(2, "logit_lengths"))
        if given is None or told is None or any(_divides(each) for each in sources(told)):
            continue
        found = _other_lengths(given, told, execution) or _shrunk(given, told, execution)
        if found is not None:
            yield one, found


def _is_loss(event: Event) -> bool:
    owner = event.owner
    return event.name in _LOSSES or (event.name == "()" and isinstance(owner, Made) and owner.name in _MODULES)


def _plain(value: Value | None) -> Value | None:
    while isinstance(value, Made) and value.name in _SAME:
        value = value.owner
    return value


def _divides(value: Value) -> bool:
    return isinstance(value, Made) and value.name in _DIVIDES


def _other_lengths(given: Value, told: Value, execution: Execution) -> Made | None:
    """Returns the call of a model that was given these lengths and gave others, beside what the loss is of."""
    for call in sources(given):
        if not isinstance(call, Made) or call.name != "()" or id(call) not in execution.forwards:
            continue
        gave = execution.forwards[id(call)][1]
        if not any(same(_plain(one), told) for one in (*call.args, *call.keywords.values())):
            continue
        lengths = gave.items[1:] if isinstance(gave, Items) else ()
        for one in lengths:
            steps = list(sources(one))
            if any(map(_divides, steps)) and any(same(_plain(each), told) for each in steps):
                return call
    return None


def _shrunk(given: Value, told: Value, execution: Execution) -> Made | None:
    """Returns the layer with a stride between the frames that were counted and what the loss is of."""
    count = told.argument(1, "fill_value") if isinstance(told, Made) and told.name == "torch.full" else None
    counted = _counted(count)
    if counted is None:
        return None
    steps = list(_deeply(given, execution))
    if any(one is counted for one in steps):
        for call in steps:
            layer = call.owner if isinstance(call, Made) and call.name == "()" else None
            if (
                isinstance(layer, Made)
                and _has_stride(layer)
                and any(one is counted for one in _deeply(call, execution))
            ):
                return call  # type: ignore[return-value] # asked for above
    return None


def _counted(count: Value | None) -> Value | None:
    """Returns whose frames a number counts: `x.shape[1]`, `x.size(1)`, but for the first dimension."""
    if (
        not isinstance(count, Made)
        or not count.args
        or not isinstance(count.args[0], Const)
        or count.args[0].value == 0
    ):
        return None
    if count.name == ".size":
        return count.owner
    shape = count.owner if count.name == "[]" else None
    return shape.owner if isinstance(shape, Made) and shape.name == ".shape" else None


def _deeply(value: Value, execution: Execution) -> Iterator[Value]:
    """Yields what a value was made of, through the forward of the project's models."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = execution.forwards.get(id(one))
        if inner is not None:
            waiting.append(inner[1])
        elif isinstance(one, Made) and one.name in (".shape", ".size", ".device", ".dtype"):
            continue
        elif isinstance(one, Made) and one.name == "()":
            waiting += [*one.args, *one.keywords.values()]
        else:
            waiting += [each for each in made_of(one) if each is not None]


def _has_stride(layer: Made) -> bool:
    """Whether a layer gives fewer frames than it is given."""
    if layer.name in _HOLDS:
        inner = [one for each in layer.args for one in (each.items if isinstance(each, Items) else (each,))]
        return any(isinstance(one, Made) and _has_stride(one) for one in inner)
    last = layer.name.rpartition(".")[2]
    if not layer.name.startswith("torch.nn.") or last not in (*_CONVOLUTIONS, *_POOLS):
        return False
    if last in _POOLS:
        stride = layer.argument(1, "stride") or layer.argument(0, "kernel_size")
    else:
        stride = layer.argument(3, "stride")
    parts = stride.items if isinstance(stride, Items) else (stride,)
    return all(isinstance(one, Const) and isinstance(one.value, int) and one.value > 1 for one in parts)

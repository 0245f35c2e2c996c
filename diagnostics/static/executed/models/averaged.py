"""Averages of a model's weights that leave its running statistics where they were. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.static.executed.training import parameters_of, parts, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Value, sources

_COPY = "copy.deepcopy"
CHANGES = (".lerp_", ".mul_", ".add_", ".sub_", ".copy_", ".set_", "set data", ".addcmul_")
_BUFFERS = frozenset([".buffers", ".named_buffers", ".state_dict", ".modules", ".named_modules"])
_READS = (".items", ".values", "iterate", ".load_state_dict", ".keys")
_NORM = re.compile(r"batch_?norm", re.IGNORECASE)
# Models of torchvision with batch normalisation in each of their variants.
_VISION = re.compile(r"torchvision\.models\.(\w+\.)?(resnet|resnext|wide_resnet|mobilenet|efficientnet|densenet|regnet|"
                     r"shufflenet|inception|googlenet|mnasnet)\w*$")  # fmt: skip


def averaged_without_buffers(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (update of the copy's parameters, the copying, what the copy is used for)."""
    for copied in execution.named(_COPY):
        model, copy = copied.argument(0, "x"), copied.value
        if copy is None or model is None or copied.loops or not _normalises(model):
            continue
        if _is_refreshed(execution, copy):
            continue
        used = _use(execution, copy)
        update = next((one for one in execution.events if one.loops and _changes(one, copy)), None)
        if used is not None and update is not None:
            yield update, copied, used


def _normalises(model: Value) -> bool:
    """Whether a model keeps running statistics in buffers."""
    made = (inner for one in parts(model) for inner in sources(one) if isinstance(inner, Made))
    return any(_NORM.search(one.name) or _VISION.match(one.name) for one in made)


def _changes(event: Event, copy: Value) -> bool:
    """Whether an event changes parameters of the copy in place."""
    if event.name in CHANGES:
        return _parameters(event.owner) is copy
    fused = event.name.startswith("torch._foreach_") and event.name.endswith("_")
    return fused and bool(event.args) and _parameters(event.args[0]) is copy


def _parameters(value: Value | None) -> Value | None:
    while isinstance(value, Made) and value.name in (".data", ".detach"):
        value = value.owner
    return bare(parameters_of(value))


def bare(model: Value | None) -> Value | None:
    """Returns the model inside of a wrapper, another one as it is."""
    wrapper = wrapper_of(model)
    return wrapper.argument(0, "module") if wrapper is not None else model


def _is_refreshed(execution: Execution, copy: Value) -> bool:
    """Whether something else gives the copy its statistics: copied buffers, a loaded state, passes in training mode."""
    for one in execution.events:
        if one.name.endswith("update_bn") or (one.name == ".train" and bare(one.owner) is copy):
            return True
        if one.name in (".buffers", ".named_buffers", ".load_state_dict") and bare(one.owner) is copy:
            return True
        reads = one.name in _READS or one.name in CHANGES or one.name in ("zip", "dict", "list", "sorted")
        given = (one.owner, *one.args) if reads else ()
        if any(isinstance(each, Made) and each.name in _BUFFERS and bare(each.owner) is copy
               for value in given for each in sources(value)):  # fmt: skip
            return True
    return False


def _use(execution: Execution, copy: Value) -> Event | None:
    """Returns where the copy predicts in evaluation mode, or is saved; None where it predicts as in training."""
    calls = [one for one in execution.named("()") if bare(one.owner) is copy]
    if calls:
        return calls[0] if any(bare(one.owner) is copy for one in execution.named(".eval")) else None
    return next(
        (
            one
            for one in execution.named("torch.save")
            if any(isinstance(each, Made) and each.name == ".state_dict" and bare(each.owner) is copy
                   for each in sources(one.argument(0, "obj")))
        ),
        None,
    )  # fmt: skip

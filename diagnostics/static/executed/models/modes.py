"""A model that a validation puts into eval mode, and nothing back, in the middle of its training. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.static.executed.training import is_part, parts, wrapper_of
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.values import Instance, Made, Value, sources
from diagnostics.static.program.project import Project

# Words of what is another thing in training, or may hold such parts.
_MODES = re.compile(
    r"drop|batch_?norm|instance_?norm|^bn\d{0,2}$|transformer|multihead|rnn|lstm|^gru$|^models$|^timm$|torchvision|^hub$"
    r"|pretrained|automodel|(?:build|create|make|get)_\w{0,30}(?:layer|block|model|net|backbone|encoder|decoder)"
    r"|registry",
    re.IGNORECASE,
)
_COMPILED = frozenset(["torch.jit.trace", "torch.jit.script", "torch.compile"])


def left_in_eval(execution: Execution, project: Project) -> Iterator[tuple[Event, Event, OpenLoop]]:
    """Yields (eval(), backward pass, the loop that comes to both) where no train() stands in that loop."""
    for turned in execution.named(".eval"):
        model = _inner(turned.owner)
        if model is None or (turned.frames and turned.is_handled):
            continue
        for backward in execution.named(".backward"):
            loop = next((one for one in reversed(backward.loops) if any(one is each for each in turned.loops)), None)
            if loop is None or not _is_of(backward, model) or not _has_modes(model, project):
                continue
            back = any(any(one is loop for one in each.loops) and _is_same(each.owner, model)
                       for each in execution.named(".train"))  # fmt: skip
            if not back and _may_come_before(turned, backward, loop):
                yield turned, backward, loop
            break


def _has_modes(model: Value, project: Project) -> bool:
    """Whether a model may be another one in training, by the words of the files that its classes are written in.

    Of a model that is not of the project's nobody knows; so of one whose file speaks of models that it gets elsewhere.
    """
    while isinstance(model, Made) and model.name in _COMPILED and model.args:
        model = model.args[0]
    if not isinstance(model, Instance):
        return True
    files = [project.file_with(one.kind.module) for one in (model, *parts(model)) if isinstance(one, Instance)]
    words = {word for one in files for word in one.words}
    return "training" in words or any(_MODES.search(word) for word in words)


def _may_come_before(turned: Event, backward: Event, loop: OpenLoop) -> bool:
    """Whether the loop goes round again behind eval(): not where each round makes a model of its own."""
    model = _inner(turned.owner)
    if not isinstance(model, (Instance, Made)) or model.function is None or model.node is None:
        return False
    lines = range(getattr(loop.node, "lineno", 0), getattr(loop.node, "end_lineno", 0) + 1)
    return model.function.file != loop.function.file or getattr(model.node, "lineno", 0) not in lines


def _inner(value: Value | None) -> Value | None:
    wrapper = wrapper_of(value)
    return (
        wrapper.argument(0, "module") if wrapper is not None else value if isinstance(value, (Instance, Made)) else None
    )


def _is_same(value: Value | None, model: Value) -> bool:
    inner = _inner(value)
    return inner is model or (inner is not None and is_part(model, inner))


def _is_of(backward: Event, model: Value) -> bool:
    """Whether a loss comes from a model."""
    return any(
        isinstance(one, Made) and one.name == "()" and _inner(one.owner) is model for one in sources(backward.owner)
    )

"""What makes ranks meet in a `with Join(...)`, and has nobody who answers for the ranks that have ended. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import operation, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, sources

_JOIN = ("torch.distributed.algorithms.join.Join", "torch.distributed.algorithms.Join")
_CONVERTS = ".convert_sync_batchnorm"
_TRAINS = (".backward", ".step")


def meets_under_join(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (operation in a loop, Join around it): an operation of the program's own, or a forward that has some."""
    told: set[int] = set()
    for one in execution.events:
        join = next((each for each in one.contexts if isinstance(each, Made) and _answers(each)), None)
        if join is None or not one.loops or one.guards or id(one.node) in told:
            continue
        if (operation(one) and operation(one) != "barrier") or _is_synchronised_forward(one):
            told.add(id(one.node))
            yield one, join


def _answers(context: Made) -> bool:
    """Whether a context lets wrapped models answer for ranks that have ended, and raises nowhere."""
    if context.name not in _JOIN and not (context.name == ".join" and wrapper_of(context.owner) is not None):
        return False
    given = [context.keywords.get("enable"), context.keywords.get("throw_on_early_termination")]
    off, raises = (one.value if isinstance(one, Const) else one for one in given)
    return off in (None, True) and raises in (None, False)


def _is_synchronised_forward(event: Event) -> bool:
    """Whether an event is the training forward of a wrapped model whose batch normalisation asks all ranks."""
    wrapper = wrapper_of(event.owner) if event.name == "()" and not event.without_gradients else None
    inner = wrapper.argument(0, "module") if wrapper is not None else None
    return any(isinstance(one, Made) and one.name.endswith(_CONVERTS) for one in sources(inner))

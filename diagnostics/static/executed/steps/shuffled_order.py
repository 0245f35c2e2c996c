"""What a model gives for the batches of a loader that shuffles, taken for the order of its data set. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.steps.sample_pairs import IN_A_ROW, ONE_NUMBER, is_of, pairs
from diagnostics.static.executed.values_met import values_met
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.library import LOADER
from diagnostics.static.execution.values import Const, Items, Made, Value, made_of, sources

_OWN_ORDER = ("sampler", "batch_sampler")
_ROWS = IN_A_ROW | {"torch.hstack", "numpy.hstack", "numpy.array", "torch.tensor", "numpy.asarray"}
_MOST = 400


def taken_for_order(execution: Execution) -> Iterator[tuple[Made, Value, Made]]:
    """Yields (loader that shuffles, what stands in its order, what compares that with the data set's order)."""
    for value in values_met(execution):
        for row, other in pairs(value):
            found = _in_its_order(row)
            if found is None:
                continue
            loader, whole = found
            if is_of(other, loader.args[0]):
                yield loader, whole, value
                break


def _in_its_order(value: Value) -> tuple[Made, Value] | None:
    """Returns (loader, what joins its batches) of a value that has an entry for each sample of all batches."""
    waiting: list[Value | None] = [value]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Made) and one.name in ONE_NUMBER and not one.args and not one.keywords:
            continue
        if (isinstance(one, Made) and one.name in _ROWS) or (isinstance(one, Items) and one.open):
            loaders = {id(each): each for each in sources(one) if isinstance(each, Made) and each.name == LOADER}
            alone = next(iter(loaders.values())) if len(loaders) == 1 else None
            if alone is not None and _shuffles(alone):
                return alone, one
            continue
        waiting += made_of(one)
    return None


def _shuffles(loader: Made) -> bool:
    """Whether a loader surely shuffles: by what it is given, without a sampler of its own."""
    asked = loader.argument(2, "shuffle")
    own = any(name in loader.keywords for name in _OWN_ORDER)
    return bool(loader.args) and not own and isinstance(asked, Const) and asked.value is True

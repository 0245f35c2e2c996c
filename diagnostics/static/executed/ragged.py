"""Tensors with as many rows as the rank has samples, gathered into buffers of their own size. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.one_rank import of_rank
from diagnostics.static.executed.training import loader_of, operation
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Items, Made, Value, sources

_LIKE = ("empty_like", "zeros_like", "ones_like")
# What has as many rows as what it is computed from.
_KEEPS = frozenset(
    [".contiguous", ".detach", ".float", ".half", ".double", ".clone", ".cpu", ".cuda", ".to", ".sigmoid", ".exp",
     "torch.sigmoid", "torch.nn.functional.normalize", "torch.nn.functional.softmax", "torch.nn.functional.sigmoid",
     "torch.as_tensor", "torch.from_numpy", "torch.tensor", "numpy.array", "numpy.asarray"]
)  # fmt: skip
_JOINS = frozenset(["torch.cat", "torch.stack", "torch.concat", "numpy.concatenate", "numpy.stack", "torch.vstack"])
_SHARES = frozenset(["slice", "range", "torch.arange", "numpy.arange", "itertools.islice"])
_DATA = "torch.utils.data.Subset"
_MOST_DEEP = 12


def ragged_gathers(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (all_gather, the rank's share of a number that the ranks need not divide)."""
    for one in execution.events:
        if operation(one) != "all_gather":
            continue
        buffers, tensor = one.argument(0, "tensor_list"), one.argument(1, "tensor")
        alike = isinstance(buffers, Items) and any(
            isinstance(each, Made) and each.name.endswith(_LIKE) for each in buffers.items
        )
        share = _rows_of(tensor) if alike else None
        if share is not None:
            yield one, share


def _rows_of(value: Value | None, depth: int = _MOST_DEEP) -> Made | None:
    """Returns the share that decides how many rows a value has, None where that is not seen."""
    if not isinstance(value, Made) or not depth:
        return None
    if _is_share(value):
        return value
    if value.name in _JOINS:
        return next((found for one in sources(value) if (found := _round_of(one)) is not None), None)
    if value.name == "[]" and value.args:
        index = value.args[0]
        inside = index.items if isinstance(index, Items) else (index,)
        found = next((share for one in inside if (share := _rows_of(one, depth - 1)) is not None), None)
        if found is None:
            return _rows_of(value.owner, depth - 1)
        return found if not _is_cut(value.owner) else None  # `rows[: len(rows) // world * world][rank::world]`
    if value.name in _KEEPS:
        return _rows_of(value.owner if value.owner is not None else value.args[0] if value.args else None, depth - 1)
    if value.name == "()":  # a model gives a row for each
        return next((found for one in value.args if (found := _rows_of(one, depth - 1)) is not None), None)
    return None


def _round_of(value: Value) -> Made | None:
    """Returns the share that a loop goes over, of an item that it gets: also of a loader of a part of the data."""
    if not isinstance(value, Made) or value.name not in ("item", "next"):
        return None
    if isinstance(value.owner, Made) and _is_share(value.owner):
        return value.owner
    loader = loader_of(value.owner)
    data = loader.argument(0, "dataset") if loader is not None else None
    given = data.argument(1, "indices") if isinstance(data, Made) and data.name == _DATA else None
    return given if isinstance(given, Made) and _is_share(given) else None


def _is_share(value: Made) -> bool:
    """Whether a value is each n-th from the rank's on, of a number that nobody has cut to a multiple."""
    if value.name not in _SHARES or len(value.args) < 2:
        return False
    first, step = value.args[0] if value.name != "itertools.islice" else value.args[1], value.args[-1]
    parts = _differs(first) and _is_world(step)
    return parts and not any(_is_cut(one) for one in value.args)


def _is_cut(value: Value | None) -> bool:
    """Whether a value has to do with how often one number goes into another."""
    return any(isinstance(one, Made) and one.name in ("//", "%", ".pad", "torch.nn.functional.pad")
               for one in sources(value))  # fmt: skip


def _differs(value: Value) -> bool:
    told = [of_rank(value, rank) for rank in (0, 1)]
    return all(one is not None for one in told) and told[0].value != told[1].value  # type: ignore[union-attr]


def _is_world(value: Value) -> bool:
    told = of_rank(value, 0)
    return told is not None and not isinstance(value, Const) and isinstance(told.value, int) and told.value > 1

"""What holds one entry for each sample is held against another such thing: by an operator, a mask or a metric. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.library import LOADER
from diagnostics.static.execution.values import Instance, Items, Made, Value, made_of

IN_A_ROW = frozenset(["torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "numpy.concatenate"])
# What makes one number, or another few, of what has an entry for each sample.
ONE_NUMBER = frozenset([".mean", ".sum", ".max", ".min", ".std", ".var", ".item", ".any", ".all", ".norm", ".median"])
_FEW = frozenset(["len", ".size", ".shape", ".unique", "torch.unique", "numpy.unique", ".bincount", "torch.bincount",
                  "numpy.bincount", "set", ".nonzero", "torch.mean", "torch.std", "numpy.mean", "numpy.std", "max",
                  "min", "sum", ".amax", ".amin", ".quantile"])  # fmt: skip
_OPERATORS = frozenset(["==", "!=", "-", "&", "|"])
_ENTRY, _TENSORS = "[]", "torch.utils.data.TensorDataset"
_METRICS = ("sklearn.metrics.", "torchmetrics.functional.", "torch.nn.functional.")
_MOST = 400


def pairs(value: Made) -> Iterator[tuple[Value, Value]]:
    """Yields the two values that one takes sample by sample, in both orders: `a == b`, `a[b == c]`, a metric's."""
    pair: tuple[Value, Value] | None = None
    if value.name in _OPERATORS and len(value.args) == 2:
        pair = (value.args[0], value.args[1])
    elif value.name == _ENTRY and value.owner is not None and len(value.args) == 1:
        mask = value.args[0]
        pair = (value.owner, mask) if isinstance(mask, Made) and mask.name in _OPERATORS - {"-"} else None
    elif value.name.startswith(_METRICS) and len(value.args) > 1:
        pair = (value.args[0], value.args[1])
    if pair is not None:
        yield pair
        yield pair[::-1]


def is_of(value: Value, data: Value) -> bool:
    """Whether a value is read sample by sample from a data set itself, and not from a loader of it."""
    fields = [*data.fields.values()] if isinstance(data, Instance) else []
    if isinstance(data, Made) and data.name == _TENSORS:
        fields += data.args
    own = {id(one) for one in (data, *fields) if isinstance(one, (Made, Instance, Items))}
    waiting: list[Value | None] = [value]
    seen: set[int] = set()
    reached = False
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Made) and one.name == LOADER:
            return False
        if isinstance(one, Made) and (one.name in _FEW or (one.name in ONE_NUMBER and not one.args)):
            continue
        reached = reached or id(one) in own
        waiting += made_of(one) if id(one) not in own else ()
    return reached

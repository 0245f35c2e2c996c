"""Which values hold rows of which others: through copies, casts, joins, orders and data sets. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Class, Const, Instance, Items, Made, Mapped, OneOf, Value

_MOST_VALUES = 1500
JOINS = frozenset(
    ["numpy.concatenate", "numpy.vstack", "numpy.hstack", "numpy.append", "torch.cat", "torch.concat", "torch.vstack",
     "pandas.concat", "torch.utils.data.ConcatDataset", "datasets.concatenate_datasets", "polars.concat"]
)  # fmt: skip
_JOIN_AXIS = {"numpy.append": 2}  # which argument says along what is joined, 1 for all others
ORDERS = frozenset(["numpy.random.permutation", "torch.randperm", "sklearn.utils.shuffle", ".permutation"])
_SHUFFLES = frozenset(["random.shuffle", "numpy.random.shuffle", ".shuffle"])
# What gives the rows of all that it is given.
_SAME_ROWS = frozenset(
    ["list", "tuple", "zip", "sorted", "reversed", "iter", "map", "numpy.array", "numpy.asarray", "numpy.stack",
     "numpy.squeeze", "numpy.ascontiguousarray", "torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.stack",
     "torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.IntTensor", "torch.utils.data.TensorDataset",
     "torch.utils.data.StackDataset", "pandas.DataFrame", "pandas.Series", "datasets.Dataset.from_pandas",
     "datasets.Dataset.from_dict", "datasets.Dataset.from_list", "copy.copy", "copy.deepcopy", "torch.squeeze",
     "torch.unsqueeze", "numpy.expand_dims", "numpy.copy", "list.copy", "enumerate", "random.sample"]
)  # fmt: skip
SUBSET = "torch.utils.data.Subset"
# Methods and attributes that tell something of all rows, or take each row once: what they give are no rows of it.
_NO_ROWS = frozenset(
    ["unique", "drop_duplicates", "nunique", "mean", "sum", "std", "var", "min", "max", "shape", "size", "value_counts",
     "columns", "dtypes", "dtype", "ndim", "argmax", "argmin", "argsort", "idxmax", "median", "quantile", "count",
     "describe", "keys", "dim", "item", "any", "all", "device", "nonzero", "split", "groupby", "isin", "eq", "fit",
     "duplicated", "choice", "integers", "normal", "random", "bincount"]
)  # fmt: skip
_ARITHMETIC = frozenset(["-", "*", "/", "//", "%", "**", "@"])
_LISTS = frozenset(["list", "sorted", "random.choices", "random.sample", ".tolist", "tuple", ".copy"])


@dataclass(frozen=True, slots=True)
class RowPath:
    """How rows came from one value to another one.

    `computed`: their numbers were changed on the way; `shuffled`: their order; `beside`: what they were joined with;
    `of`: what was looked up by them.
    """

    computed: bool = False
    shuffled: bool = False
    beside: tuple[Value, ...] = ()
    of: Value | None = None


def rows_of(value: Value | None, execution: Execution) -> Iterator[tuple[Made, RowPath]]:
    """Yields the values whose rows are in a value, itself first, and how they came there."""
    mixed = {id(given) for one in execution.events if one.name in _SHUFFLES for given in one.args[:1]}
    waiting: list[tuple[Value | None, RowPath]] = [(value, RowPath())]
    seen: set[tuple[int, bool, bool]] = set()
    while waiting and len(seen) < _MOST_VALUES:
        one, path = waiting.pop()
        if one is None:
            continue
        if id(one) in mixed and not path.shuffled:
            path = replace(path, shuffled=True)
        key = (id(one), path.computed, path.shuffled)
        if key in seen:
            continue
        seen.add(key)
        if isinstance(one, Made):
            yield one, path
        waiting += [*_inner(one, path)][::-1]


def _inner(one: Value, path: RowPath) -> Iterator[tuple[Value | None, RowPath]]:
    if isinstance(one, OneOf):
        yield from ((each, path) for each in one.options)
    elif isinstance(one, Items):
        yield from ((each, path) for each in one.items)
    elif isinstance(one, Mapped):
        yield from ((each, path) for each in one.fields.values() if isinstance(each, Value))
    elif isinstance(one, Instance):
        yield from ((each, path) for each in _counted(one))
    elif isinstance(one, Made):
        yield from _of_made(one, path)


def _of_made(one: Made, path: RowPath) -> Iterator[tuple[Value | None, RowPath]]:
    last = one.name.rpartition(".")[2]
    if one.name in JOINS or (one.name == "+" and any(is_list(each) for each in one.args)):
        members = joined_in(one)
        for each in members:
            beside = tuple(other for other in members if other is not each)
            yield each, replace(path, beside=(*path.beside, *beside))
    elif one.name in ORDERS:
        for each in one.args:
            yield counted_by(each) or each, replace(path, shuffled=True)
    elif one.name in _SAME_ROWS:
        shuffled = path.shuffled or one.name == "random.sample"
        yield from ((each, replace(path, shuffled=shuffled)) for each in (*one.args, *one.keywords.values()))
    elif one.name == "[]" or one.name == SUBSET:
        whole = one.owner if one.name == "[]" else one.argument(0, "dataset")
        index = one.args[0] if one.name == "[]" and one.args else one.argument(1, "indices")
        yield whole, path
        if not (isinstance(index, Const) or (isinstance(index, Made) and index.name == "slice")):
            yield index, replace(path, of=whole)
    elif one.name == "item":
        yield one.owner, path
    elif one.name == "+" or one.name in _ARITHMETIC:
        yield from ((each, replace(path, computed=True)) for each in one.args)
    elif one.name.startswith(".") and last not in _NO_ROWS:
        whole_again = one.name == ".sample" and isinstance(frac := one.keywords.get("frac"), Const) and frac.value == 1
        yield one.owner, replace(path, shuffled=True) if whole_again else path


def joined_in(join: Made) -> Sequence[Value]:
    """Returns what is put behind each other; () where it is put side by side."""
    if join.name == "+":
        return join.args
    axis = join.keywords.get("axis", join.argument(_JOIN_AXIS.get(join.name, 1), "dim"))
    if isinstance(axis, Const) and axis.value not in (0, None, "index", "vertical"):
        return ()
    first = join.args[0] if join.args else next(iter(join.keywords.values()), None)
    if join.name == "numpy.append":
        return join.args[:2]
    return first.items if isinstance(first, Items) else [first] if first is not None else ()


def is_list(value: Value) -> bool:
    """Whether a value is a list, which `+` joins and `*` repeats."""
    if isinstance(value, Made) and value.name in ("*", "+"):
        return any(is_list(one) for one in value.args)
    return isinstance(value, Items) or (isinstance(value, Made) and value.name in _LISTS)


def counted_by(value: Value | None) -> Value | None:
    """Returns what `len(rows)`, `rows.shape[0]`, `range(len(rows))` and the like count."""
    for _ in range(4):
        if not isinstance(value, Made):
            return None
        if value.name == "len" and value.args:
            return value.args[0]
        if value.name == "[]" and isinstance(value.owner, Made) and value.owner.name == ".shape":
            return value.owner.owner
        if value.name not in ("range", "numpy.arange", "torch.arange", "list") or len(value.args) != 1:
            return None
        value = value.args[0]
    return None


def _counted(data: Instance) -> Iterator[Value]:
    """Yields the attributes of a data set that `__len__` counts: one row each. What else it keeps is beside them."""
    kind, found = data.kind, None
    for _ in range(4):
        found = next((one for one in kind.kind.body if getattr(one, "name", "") == "__len__"), None)
        base = next((one for one in kind.bases if isinstance(one, Class)), None)
        if found is not None or base is None:
            break
        kind = base
    for node in ast.walk(found) if found is not None else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in data.fields:
            value = data.fields[node.attr]
            yield counted_by(value) or value

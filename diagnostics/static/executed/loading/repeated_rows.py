"""Rows that were drawn with repetition, or copied, before they are parted into training and validation. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.executed.loading.row_paths import JOINS, RowPath, counted_by, is_list, rows_of
from diagnostics.static.executed.values_met import values_met
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import computed
from diagnostics.static.execution.values import (
    Const,
    Items,
    Made,
    Name,
    Procedure,
    Value,
    options,
    same,
    sources,
    truth,
    usual,
)
from diagnostics.static.program.functions import Function

_SPLITS = frozenset(
    ["torch.utils.data.random_split", "torch.utils.data.dataset.random_split",
     "sklearn.model_selection.train_test_split"]
)  # fmt: skip
_CUTS = frozenset(["numpy.split", "numpy.array_split"])  # in the order in which the rows are
_FOLDS = re.compile(r"^sklearn\.model_selection\.(?:Repeated)?(?:Stratified)?(?:KFold|ShuffleSplit)$")
_OVERSAMPLERS = ("imblearn.over_sampling.", "imblearn.combine.")
_RESAMPLE = frozenset(["sklearn.utils.resample", "sklearn.utils._indexing.resample"])
_CHOICES = frozenset(["numpy.random.choice", ".choice"])
_DRAWN_AGAIN = frozenset(["random.choices", ".choices"])
_NUMBERS = {"torch.randint": 0, "numpy.random.randint": 0, ".integers": 0, ".randint": 0}
_COPIES = frozenset(["numpy.repeat", "numpy.tile", "torch.repeat_interleave", "torch.tile", ".repeat_interleave",
                     ".repeat", ".tile"])  # fmt: skip
_PLACES = frozenset(["numpy.flatnonzero", "numpy.where", "numpy.nonzero", "numpy.argwhere", "torch.where",
                     "torch.nonzero", "torch.argwhere", ".nonzero"])  # fmt: skip
_STILL_PLACES = frozenset(["[]", ".squeeze", ".flatten", ".numpy", ".tolist", ".ravel", ".view", ".reshape", "list"])
_ROOTLESS = re.compile(r"^(?:numpy\.random|torch\.rand|random)\b|^\.(?:normal|integers|random|uniform|choice)$")
_MOST_STEPS = 20


@dataclass(frozen=True, slots=True)
class PartedRepetition:
    """Rows that `repeated` holds several times and `parted` parts; `node` in `function` is where the first is done.

    That is in the function that parts them, or in the one that calls both; `repeated` may stand deeper.
    """

    repeated: Made
    parted: Made
    node: ast.AST
    function: Function


def parted_after_repetition(execution: Execution) -> Iterator[PartedRepetition]:
    """Yields what repeats rows before they are parted, each once."""
    told: set[int] = set()
    applied = {id(one.owner): one for one in execution.named(".apply") if any(map(_samples_again, one.args))}
    for split, data, ordered in _parted(execution):
        for row, path in rows_of(data, execution):
            if id(row.node) in told or (ordered and not path.shuffled):
                continue
            if id(row) not in applied and not _repeats(row, path):
                continue
            came = applied.get(id(row)) or _event_of(row, execution)
            if came is None or _is_off(came):
                continue
            told.add(id(row.node))
            yield _found(row, came, split, execution)


def _event_of(value: Made, execution: Execution) -> Event | None:
    """Returns the event that gave a value; of what was only computed, another one of its function."""
    beside = None
    for one in execution.events:
        if one.value is value:
            return one
        if beside is None and one.function is value.function:
            beside = one
    return beside if not value.name.startswith(".") else None


def _found(row: Made, came: Event, split: Made, execution: Execution) -> PartedRepetition:
    """Returns where the repetition is done, seen from what parts the rows."""
    assert row.node is not None and row.function is not None  # noqa: S101, PT018 (an event gave it)
    around = _event_of(split, execution)
    there = {id(one.function) for one in around.frames} if around is not None else set()
    at, home = row.node, row.function
    for one in reversed(came.frames):
        if home is split.function or id(home) in there:
            break
        at, home = one.call, one.caller
    return PartedRepetition(row, split, at, home)


def _parted(execution: Execution) -> Iterator[tuple[Made, Value, bool]]:
    """Yields (what parts, the rows that it parts, whether it leaves them in their order)."""
    for one in execution.events:
        value = one.value
        if not isinstance(value, Made) or value.node is None:
            continue
        if one.name in _SPLITS:
            keywords = (one.keywords[name] for name in ("dataset", "arrays") if name in one.keywords)
            given = one.args if one.name.endswith("train_test_split") else one.args[:1]
            yield from ((value, each, False) for each in (*given, *keywords))
        elif one.name == ".train_test_split" and one.owner is not None:
            yield value, one.owner, False
        elif one.name in _CUTS and one.args:
            yield value, one.args[0], True
        elif one.name == ".split" and _is_fold(one.owner) and len(one.args) < 3 and "groups" not in one.keywords:
            yield from ((value, each, False) for each in one.args[:1])
    yield from _cut(execution)


def _is_fold(owner: Value | None) -> bool:
    return any(isinstance(one, Made) and _FOLDS.match(one.name) for one in options(owner))


def _cut(execution: Execution) -> Iterator[tuple[Made, Value, bool]]:
    """Yields what is cut in two: `rows[:n]` and `rows[n:]`."""
    begins: list[tuple[Value, Value]] = []
    ends: list[tuple[Value, Value, Made]] = []
    for one in values_met(execution):
        part = one.args[0] if one.name == "[]" and one.args else None
        written = one.node.slice if isinstance(one.node, ast.Subscript) else None
        whole = one.owner
        while isinstance(whole, Made) and whole.name in (".iloc", ".loc"):
            whole = whole.owner
        if not isinstance(part, Made) or part.name != "slice" or len(part.args) != 1 or whole is None:
            continue
        if isinstance(written, ast.Slice) and one.function is not None:  # one bound: the other ones are not in it
            if written.upper is not None:
                begins.append((whole, part.args[0]))
            elif written.lower is not None:
                ends.append((whole, part.args[0], one))
    for whole, lower, cut in ends:
        if any(each is whole and same(upper, lower) for each, upper in begins):
            yield cut, whole, True


def _repeats(row: Made, path: RowPath) -> bool:
    """Whether a value holds some rows several times over."""
    if row.name in (".fit_resample", ".fit_sample"):
        return any(isinstance(one, (Made, Name)) and one.name.startswith(_OVERSAMPLERS) for one in sources(row.owner))
    if row.name in _RESAMPLE:
        return _may_repeat(row.keywords.get("replace", Const(True)))
    if row.name == ".sample":
        frac = usual(row.keywords.get("frac"))
        more = isinstance(frac, Const) and isinstance(frac.value, (int, float)) and frac.value > 1
        return more or _may_repeat(row.keywords.get("replace"))
    if path.computed:
        return False
    population = _population(row)
    if population is not None:
        counted = counted_by(population)
        if counted is not None:
            return path.of is not None and _related(counted, path.of)
        return _is_places(population) or any(_related(population, one) for one in path.beside)
    return _copies(row, path)


def _population(row: Made) -> Value | None:
    """Returns what rows, or their places, are drawn from with repetition."""
    if row.name in _DRAWN_AGAIN and row.args:
        return row.args[0]
    if row.name in _CHOICES and row.args:
        sized = len(row.args) > 1 or "size" in row.keywords
        owner = row.owner.name if isinstance(row.owner, Made) else ""
        numpys = row.name == "numpy.random.choice" or owner.startswith("numpy.random.") or "replace" in row.keywords
        again = row.argument(2, "replace")
        return row.args[0] if sized and numpys and (again is None or _may_repeat(again)) else None
    if row.name in _NUMBERS and row.args:
        bounds = row.args[:2]
        return next((one for one in bounds if counted_by(one) is not None), None)
    return None


def _may_repeat(replace: Value | None) -> bool:
    """Whether `replace` is on, or hangs on how many rows there are."""
    told = usual(replace)
    return (isinstance(told, Const) and told.value is True) or (
        isinstance(told, Made) and told.name in ("<", ">", "<=", ">=")
    )


def _samples_again(applied: Value) -> bool:
    """Whether a function that is applied to groups of rows draws from each with repetition."""
    for node in ast.walk(applied.function.syntax) if isinstance(applied, Procedure) else ():
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "sample":
            for given in node.keywords:
                on = isinstance(given.value, ast.Constant) and given.value.value is True
                if given.arg == "replace" and (on or isinstance(given.value, ast.Compare)):
                    return True
    return False


def _is_places(value: Value) -> bool:
    """Whether a value is the places of some of the rows: those of one class."""
    at: Value | None = value
    for _ in range(_MOST_STEPS):
        if isinstance(at, Items):
            return at.open and len(at.items) == 1 and _is_place(at.items[0])
        if not isinstance(at, Made):
            return False
        if at.name in _PLACES:
            return True
        if at.name not in _STILL_PLACES:
            return False
        at = at.args[0] if at.name == "list" and at.args else at.owner
    return False


def _is_place(value: Value) -> bool:
    """Whether a value is the number of a row in a loop over them."""
    if isinstance(value, Made) and value.name == "item":
        return counted_by(value.owner) is not None
    return isinstance(value, Made) and value.name in ("count", "counter")


def _copies(row: Made, path: RowPath) -> bool:
    """Whether rows stand several times in what they are joined to: `[*rows, *(rare * 5)]`, `concat([rows] * 3)`."""
    if row.name in JOINS and row.args and isinstance(row.args[0], Made) and row.args[0].name == "*":
        times = row.args[0].args
        return any(isinstance(one, Items) for one in times) and any(_is_many(one) for one in times)
    if row.name == "*" and len(row.args) == 2 and is_list(row.args[0]):
        return _is_many(row.args[1]) and any(_related(row.args[0], one) for one in path.beside)
    if row.name in _COPIES:
        copied = row.owner if row.name.startswith(".") else row.args[0] if row.args else None
        return copied is not None and any(_related(copied, one) for one in path.beside)
    return False


def _is_many(value: Value) -> bool:
    told = usual(value)
    return not isinstance(told, (Const, Items)) or (isinstance(told, Const) and told.value not in (0, 1, None))


def _related(one: Value, other: Value) -> bool:
    """Whether two values are rows of the same data, which was read and not drawn."""
    mine, others = _root(one), _root(other)
    if mine is None or others is None or not (mine is others or same(mine, others)):
        return False
    return isinstance(mine, Made) and not _ROOTLESS.search(mine.name)


def _root(value: Value | None) -> Value | None:
    """Returns what rows were taken from."""
    for _ in range(_MOST_STEPS):
        if isinstance(value, Items):
            if len(value.items) != 1:
                return value
            value = value.items[0]
        elif isinstance(value, Made) and (value.name in ("[]", "item") or value.name.startswith(".")):
            if value.owner is None or _ROOTLESS.search(value.name):
                return value
            value = value.owner
        elif isinstance(value, Made) and value.name in ("list", "sorted", "numpy.array", "numpy.asarray", "zip"):
            value = value.args[0] if value.args else None
        else:
            return value
    return value


def _is_off(drawn: Event) -> bool:
    """Whether an option that is off, unless somebody sets it, stands before a repetition."""
    return any(not one.handler and _usually(one.test) is (not one.taken) for one in drawn.guards)


def _usually(test: Value) -> bool | None:
    """Returns what a test comes to where nobody sets an option, None where that is not known."""
    told = usual(test)
    if isinstance(told, Made) and told.node is not None:
        if told.name == "not" and len(told.args) == 1:
            inner = _usually(told.args[0])
            return None if inner is None else not inner
        if told.name in ("and", "or"):
            parts = [_usually(one) for one in told.args]
            stops = told.name == "or"
            return stops if stops in parts else None if None in parts else not stops
        if len(told.args) == 2 and told.owner is None:
            left, right = (usual(one) or one for one in told.args)
            told = computed(told.name, left, right, told.node)
    return truth(told) if told is not None else None

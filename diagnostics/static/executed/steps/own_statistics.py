"""Statistics that each rank takes of its own samples, and by which the samples that it trains on are changed. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.agent.shared import operations
from diagnostics.static.executed.training import (
    is_distributed,
    is_wrapped_backward,
    loader_of,
    operation,
    parts,
    sampler_of,
)
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Instance, Items, Made, Value, made_of

_MOST = 3000
_ITEMS = ("item", "next")
_PART = "itertools.islice"
_AGREES = re.compile(r"reduce|gather|sync|broadcast", re.IGNORECASE)
_SIZES = frozenset(["len", ".shape", ".size", ".numel", ".ndim", ".dtype", ".device", ".dim", "isinstance", "hasattr"])
_REDUCES = frozenset(["mean", "std", "var", "sum", "nansum", "nanmean", "average", "var_mean", "std_mean", "quantile",
                      "percentile", "median", "min", "max", "amin", "amax", "aminmax", "nanstd", "bincount", "histc",
                      "histogram", "norm"])  # fmt: skip
_FITS = frozenset([".fit", ".partial_fit", ".observe"])
_COMPUTES = frozenset(["-", "/", "*", "+", "()"])


@dataclass(frozen=True, slots=True, eq=False)
class OwnStatistic:
    """What a rank takes of its own samples (`taken`), and the training that goes by it."""

    taken: Event
    used: Made
    backward: Event


class _Asked:
    """What the values of one training go back to."""

    def __init__(self, backward: Event, execution: Execution, agreed: set[int]) -> None:
        self.backward = backward
        self.loops = {id(one.node): one.node for one in backward.loops}
        self.agreed = agreed
        self.begun = {id(one.node): one for one in execution.events if one.name in ("iterate", "next")}
        self._kinds: dict[int, frozenset[str]] = {}
        # Objects of libraries that were fitted in an earlier pass, and in which pass: StandardScaler().partial_fit(x).
        self.fitted = {
            id(one.owner): own
            for one in execution.events
            if one.name in _FITS and isinstance(one.owner, Made) and (own := self.first_own(one.args[:1])) is not None
        }

    def all_of(self, value: Value | None) -> Iterator[Value]:
        """Yields what a value was computed from; not what stands behind what the ranks agreed on, or a size."""
        waiting: list[Value | None] = [value]
        seen: set[int] = set()
        while waiting and len(seen) < _MOST:
            one = waiting.pop()
            if one is None or id(one) in seen or id(one) in self.agreed:
                continue
            if isinstance(one, Made) and (one.name in _SIZES or _AGREES.search(one.name.rpartition(".")[2])):
                continue
            seen.add(id(one))
            yield one
            waiting += made_of(one)

    def kind(self, one: Value) -> str:
        """Returns "own" for the rank's samples of an earlier pass, "now" for those of the training itself."""
        if not isinstance(one, Made) or one.name not in _ITEMS:
            return ""
        if (loader := _loader(one.owner)) is None or sampler_of(loader) is None:
            return ""
        if id(one.node) in self.loops or any(_holds(loop, one.node) for loop in self.loops.values()):
            return "now"
        begun = self.begun.get(id(one.node))
        if begun is None:
            return ""
        return "now" if any(id(loop.node) in self.loops for loop in begun.loops) else "own"

    def kinds(self, value: Value | None) -> frozenset[str]:
        """Returns whose samples a value was computed from."""
        if value is None:
            return frozenset()
        if id(value) not in self._kinds:
            self._kinds[id(value)] = frozenset(kind for one in self.all_of(value) if (kind := self.kind(one)))
        return self._kinds[id(value)]

    def first_own(self, values: Sequence[Value]) -> Event | None:
        """Returns the earlier pass that values come from, None where they do not, or from the training as well."""
        if any(self.kinds(one) != {"own"} for one in values):
            return None
        every = (inner for one in values for inner in self.all_of(one) if self.kind(inner) == "own")
        return next((self.begun.get(id(one.node)) for one in every if isinstance(one, Made)), None)

    def pass_of(self, value: Value) -> Event | None:
        """Returns the earlier pass in which a statistic was taken."""
        return self.fitted.get(id(value)) or self.first_own([value])

    def is_statistic(self, value: Value | None) -> bool:
        """Whether a value is a number over samples of an earlier pass alone."""
        if id(value) in self.fitted:
            return True
        return self.kinds(value) == {"own"} and any(_reduces(one) for one in self.all_of(value))


def statistics_of_own_share(execution: Execution) -> Iterator[OwnStatistic]:
    """Yields the first own statistic of each training."""
    if not is_distributed(execution):
        return
    told: set[int] = set()
    agreed = {id(value) for one in execution.events if _agrees(one) for value in _given(one)}
    for event in execution.events:
        if not is_wrapped_backward(event) or event.without_gradients or not event.loops or id(event.node) in told:
            continue
        asked = _Asked(event, execution, agreed)
        loss = event.owner if event.name == ".backward" else event.argument(0, "loss")
        found = _statistic(asked, loss)
        if found is None or _is_handed_out(asked, execution):
            continue
        taken = asked.pass_of(found[0])
        if taken is not None:
            told.add(id(event.node))
            yield OwnStatistic(taken, found[1], event)


def _statistic(asked: _Asked, loss: Value | None) -> tuple[Value, Made] | None:
    """Returns (statistic, where samples of the training are changed by it)."""
    if "now" not in asked.kinds(loss) or ("own" not in asked.kinds(loss) and not asked.fitted):
        return None
    for one in asked.all_of(loss):
        if not isinstance(one, Made) or (one.name not in _COMPUTES and not one.args) or one.node is None:
            continue
        given = [value for value in (one.owner, *one.args, *one.keywords.values()) if value is not None]
        trained = any("now" in asked.kinds(value) for value in given)
        statistic = next((value for value in given if trained and asked.is_statistic(value)), None)
        if statistic is not None and one.function is not None:
            return statistic, one
    return None


def _reduces(value: Value) -> bool:
    """Whether a value is a number over the samples of a batch: a mean over all or over the first dimension."""
    if not isinstance(value, Made) or value.name.rpartition(".")[2] not in _REDUCES:
        return False
    over = value.keywords.get("dim", value.keywords.get("axis"))
    if over is None:
        at = 0 if value.name.startswith(".") else 1
        over = value.args[at] if len(value.args) > at else None
    if isinstance(over, Items):
        return any(isinstance(one, Const) and one.value == 0 for one in over.items)
    return not isinstance(over, Const) or over.value in (0, None)


def _loader(value: Value | None) -> Made | None:
    """Returns the loader that is gone through, also where only its first batches are."""
    for _ in range(3):
        if isinstance(value, Made) and value.name == _PART and value.args:
            value = value.args[0]
    found = loader_of(value)
    if found is None and isinstance(value, Made) and value.args:
        inner = value.args[0]
        found = loader_of(inner.args[0]) if isinstance(inner, Made) and inner.name == _PART and inner.args else None
    return found


def _holds(loop: ast.AST, node: ast.AST | None) -> bool:
    return node is not None and any(one is node for one in ast.walk(loop))


def _agrees(event: Event) -> bool:
    name = operation(event)
    return name in operations.SHARED or name in operations.PICKLED or (
        not name and bool(_AGREES.search(event.name.rpartition(".")[2]))
    )  # fmt: skip


def _given(event: Event) -> Iterator[Value]:
    """Yields what the ranks agree on in a call, and what it gives."""
    for one in (event.owner, event.value, *event.args, *event.keywords.values()):
        if one is not None and not isinstance(one, Const):
            yield one
            yield from one.items if isinstance(one, Items) else ()


def _is_handed_out(asked: _Asked, execution: Execution) -> bool:
    """Whether the ranks exchange something before the training that comes from the earlier pass, or an object of it."""
    for event in execution.events:
        if event is asked.backward:
            return False
        if not _agrees(event) or any(id(loop.node) in asked.loops for loop in event.loops):
            continue
        for value in _given(event):
            whole: Sequence[Value] = [*parts(value)] if isinstance(value, Instance) else [value]
            if any("own" in _kinds_inside(one, asked) for one in whole):
                return True
    return False


def _kinds_inside(value: Value, asked: _Asked) -> set[str]:
    """Returns whose samples a value that is exchanged was computed from."""
    found: set[str] = set()
    for inner in (value, *(one for one in made_of(value) if one is not None)):
        agreed, asked.agreed = asked.agreed, set()
        found.update(kind for one in asked.all_of(inner) if (kind := asked.kind(one)))
        asked.agreed = agreed
    return found

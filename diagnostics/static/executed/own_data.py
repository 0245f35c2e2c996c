"""Which values each rank computes from its own samples, with nothing in between that makes them the same. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.agent.shared import operations
from diagnostics.static.executed.one_rank import ALL_RANKS, ranks_that_pass
from diagnostics.static.executed.training import is_wrapped_backward, loader_of, operation, sampler_of, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Items, Made, Mapped, OneOf, Value, sources

_MOST = 600
# What gives every rank the same, by whatever object it is asked for.
_AGREEING = frozenset(operations.SHARED) | frozenset(
    [
        "gather_for_metrics",
        "compute",
        "sync",
        "synchronize",
        "synchronize_between_processes",
        "reduce_mean",
        "reduce_dict",
    ]
)
_SIZES = frozenset(["len", ".shape", ".size", ".numel", ".ndim", ".dtype", ".device", ".dim", "isinstance", "hasattr"])


class OwnData:
    """Asked about the values of one run."""

    def __init__(self, execution: Execution) -> None:
        self._agreed: set[int] = set()
        self._trained: set[int] = set()  # what wrapped models gave for the data that the rank trains on
        for event in execution.events:
            self._note(event)
            if is_wrapped_backward(event) and not event.without_gradients:
                loss = event.owner if event.name == ".backward" else event.argument(0, "loss")
                self._trained.update(id(one) for one in sources(loss) if _is_of_own_part(one))

    def _note(self, event: Event) -> None:
        name = operation(event)
        if (
            name in operations.SHARED
            or (name and name in operations.PICKLED)
            or (not name and self._is_agreeing(event))
        ):
            for given in (
                *event.args[:1],
                *(event.keywords[key] for key in operations.TENSORS if key in event.keywords),
            ):
                self._agreed.update(id(one) for one in _flat(given))
            if event.value is not None:
                self._agreed.add(id(event.value))

    @staticmethod
    def _is_agreeing(event: Event) -> bool:
        return event.name.rpartition(".")[2].lstrip("_") in _AGREEING

    def of(self, value: Value | None, *, sizes: bool = False) -> Made | None:
        """Returns the samples that a value was computed from: an item of a loader that is parted among the ranks.

        Or what a wrapped model that is trained gave for them, wherever they came from.

        `sizes`: also where only how many there are was asked, which is mostly the same on all ranks.
        """
        waiting: list[Value | None] = [value]
        seen: set[int] = set()
        while waiting and len(seen) < _MOST:
            one = waiting.pop()
            if one is None or id(one) in seen or id(one) in self._agreed:
                continue
            seen.add(id(one))
            if isinstance(one, Made):
                if not sizes and one.name in _SIZES:
                    continue
                if id(one) in self._trained:
                    return one
                if one.name in ("item", "next") and (loader := loader_of(one.owner)) is not None and sampler_of(loader):
                    return one
                if one.name.rpartition(".")[2] in _AGREEING:
                    continue
                if one.name in ("is", "is not") and isinstance(one.args[0], OneOf) and one.args[0].tests:
                    waiting += one.args[0].tests  # which of them it is, not what it holds
                    continue
                waiting += [one.owner, *one.args, *one.keywords.values()]
            elif isinstance(one, OneOf):
                waiting += [*self._options_of_several(one), *one.tests]
            elif isinstance(one, (Items, Mapped)):
                waiting += _flat(one)
        return None

    def _options_of_several(self, value: OneOf) -> Sequence[Value]:
        """Returns what a value may be where several ranks run: `summed(loss) if world_size > 1 else loss` is the sum.

        Behind a branch it is not known which was set in it: where a sum over the ranks is among them, it is that.
        """
        if value.conditions:
            return [
                option
                for option, under in zip(value.options, value.conditions, strict=True)
                if all(ranks_that_pass(test, taken) != frozenset() for test, taken, _ in under)
            ]
        if any(ranks_that_pass(test, True) in (frozenset(), ALL_RANKS) for test in value.tests):
            return [one for one in value.options if self.is_agreed(one)] or value.options
        return value.options

    def is_shared(self, value: Value) -> bool:
        """Whether a value itself was summed, gathered or handed out over the ranks."""
        return id(value) in self._agreed

    def is_agreed(self, value: Value | None) -> bool:
        """Whether something that a value was computed from was summed, gathered or handed out over the ranks."""
        waiting: list[Value | None] = [value]
        seen: set[int] = set()
        while waiting and len(seen) < _MOST:
            one = waiting.pop()
            if one is None or id(one) in seen:
                continue
            if id(one) in self._agreed:
                return True
            seen.add(id(one))
            if isinstance(one, Made):
                waiting += [one.owner, *one.args, *one.keywords.values()]
            elif isinstance(one, OneOf):
                waiting += one.options
            elif isinstance(one, (Items, Mapped)):
                waiting += _flat(one)
        return False


def _is_of_own_part(value: Value) -> bool:
    """Whether a wrapped model gave a value for data of which ranks may have parts: of no loader that all read whole."""
    wrapper = wrapper_of(value.owner) if isinstance(value, Made) and value.name == "()" else None
    if not isinstance(value, Made) or wrapper is None or wrapper.name == "torch.nn.DataParallel":
        return False
    for given in (*value.args, *value.keywords.values()):
        for one in sources(given):
            loader = loader_of(one.owner) if isinstance(one, Made) and one.name in ("item", "next") else None
            if loader is not None and sampler_of(loader) is None:
                return False
    return True


def _flat(value: Value) -> Sequence[Value]:
    if isinstance(value, Items):
        return [value, *value.items]
    if isinstance(value, Mapped):
        return [value, *(one for one in value.fields.values() if isinstance(one, Value))]
    return [value, *value.fields.values()] if isinstance(value, Made) else [value]  # items that were set, too

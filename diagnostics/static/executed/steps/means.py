"""Means of each rank that are summed over the ranks, and taken for a mean. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.steps.plateau import averages
from diagnostics.static.executed.training import is_distributed, operation
from diagnostics.static.executed.values_met import values_met
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Items, Made, Value, sources

_SAME = frozenset(
    [".detach", ".clone", ".float", ".double", ".to", ".cuda", ".cpu", ".item", ".data", ".view", ".reshape",
     ".unsqueeze", ".squeeze", "torch.tensor", "torch.as_tensor", "torch.stack", "float"]
)  # fmt: skip
_MEANS = frozenset([".mean", "torch.mean"])
_OPERATORS = frozenset(["/", "//", "*", "@", "**"])
_SCALES = frozenset([".div_", ".mul_", ".div", ".mul", ".true_divide", "torch.div", "torch.mul", ".__truediv__"])
# Who is shown the number, or keeps it.
_TELLS = (
    "print", ".info", ".log", ".debug", ".warning", ".add_scalar", ".append", ".write", ".log_metrics", ".set_postfix"
)  # fmt: skip
_SHOWN = frozenset(["wandb.log", "mlflow.log_metric", "mlflow.log_metrics", "tqdm.tqdm.write"])


def summed_means(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (the sum, who tells it) of what is a mean over the rank's own samples, where nothing divides it."""
    sums = [one for one in execution.events if operation(one) in operations.SUMS and one.args and not averages(one)]
    if not sums or not is_distributed(execution):
        return
    own = OwnData(execution)
    told: set[int] = set()
    for one in sums:
        given = one.args[0]
        if id(one.node) in told or not _is_mean(given, own) or _is_scaled(given, execution):
            continue
        teller = next((each for each in execution.events if _tells(each, given)), None)
        if teller is not None:
            told.add(id(one.node))
            yield one, teller


def _is_mean(value: Value | None, own: OwnData) -> bool:
    for _ in range(8):
        if isinstance(value, Items) and len(value.items) == 1:
            value = value.items[0]
        elif isinstance(value, Made) and value.name in _SAME:
            value = value.owner if value.owner is not None else value.args[0] if value.args else None
        else:
            break
    if not isinstance(value, Made):
        return False
    if value.name == "/" and len(value.args) == 2:
        return all(own.of(one, sizes=True) is not None for one in value.args)
    if value.name in _MEANS:
        given = value.owner if value.owner is not None else value.args[0] if value.args else None
        return not value.keywords and own.of(given) is not None
    return False


def _is_scaled(value: Value, execution: Execution) -> bool:
    """Whether something divides or multiplies the sum afterwards, by more than a number for percent."""
    made = (one for one in values_met(execution) if one.name in _OPERATORS and not _is_percent(one))
    if any(each is value for one in made for given in one.args for each in sources(given)):
        return True
    return any(
        one.name in _SCALES and any(each is value for given in (one.owner, *one.args) for each in sources(given))
        for one in execution.events
    )


def _is_percent(one: Made) -> bool:
    return one.name == "*" and any(isinstance(each, Const) for each in one.args)


def _tells(event: Event, value: Value) -> bool:
    if event.name not in _SHOWN and not event.name.endswith(_TELLS):
        return False
    return any(each is value for given in (*event.args, *event.keywords.values()) for each in sources(given))

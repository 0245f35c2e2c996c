"""Schedules that are to go on in their middle, of an optimizer that has no rates to go on from. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, options, sources, usual

_SCHEDULES = "torch.optim.lr_scheduler."
_OPTIMIZERS = "torch.optim."
# They do not ask for the rates that an optimizer began with.
_ASKS_NOTHING = frozenset(["ReduceLROnPlateau", "SequentialLR", "ChainedScheduler"])
_PLACES = {"LambdaLR": 2, "MultiplicativeLR": 2, "ExponentialLR": 2, "StepLR": 3, "MultiStepLR": 3,
           "CosineAnnealingLR": 3, "ConstantLR": 3, "LinearLR": 4, "PolynomialLR": 3,
           "CosineAnnealingWarmRestarts": 4}  # fmt: skip


def resumed_without_rates(execution: Execution) -> Iterator[tuple[Event, Made, Value]]:
    """Yields (schedule, optimizer, last_epoch) where nothing has given the optimizer's groups an `initial_lr` before.

    A schedule that begins gives it, and so does the optimizer's state of a run that had one.
    """
    for at, one in enumerate(execution.events):
        optimizer = one.argument(0, "optimizer") if _makes_schedule(one) else None
        last = _last_epoch(one)
        if last is None or not isinstance(optimizer, Made) or not _is_optimizer(optimizer) or not _goes_on(last):
            continue
        if not any(_may_give_rates(before, optimizer) for before in execution.events[:at]):
            yield one, optimizer, last


def _makes_schedule(event: Event) -> bool:
    last = event.name.rpartition(".")[2]
    if event.name.startswith(_SCHEDULES):
        return last not in _ASKS_NOTHING
    return event.name.startswith("transformers.") and last.startswith("get_") and "schedule" in last


def _last_epoch(event: Event) -> Value | None:
    kind = event.name.rpartition(".")[2]
    return event.argument(_PLACES.get(kind, len(event.args)), "last_epoch")


def _is_optimizer(value: Made) -> bool:
    return value.name.startswith(_OPTIMIZERS) and "lr_scheduler" not in value.name and "swa_utils" not in value.name


def _goes_on(last: Value) -> bool:
    """Whether a run may begin at another step than -1: a number, or what is found out, and no option left alone."""
    for one in options(last):
        if isinstance(one, Const):
            if isinstance(one.value, int) and one.value >= 0:
                return True
        elif isinstance(one, Made) and one.name != "argument":
            plain = usual(one)
            if not isinstance(plain, Const) or plain.value not in (-1, None):
                return True
    return False


def _may_give_rates(event: Event, optimizer: Made) -> bool:
    """Whether an event may put `initial_lr` into the groups: a load, another schedule, anything that is given it."""
    if event.value is optimizer:
        return False
    given = (event.owner, *event.args, *event.keywords.values())
    return any(each is optimizer for value in given for each in sources(value)) and event.name not in (
        ".zero_grad", ".step", ".state_dict", "set optimizer",
    )  # fmt: skip


def sets_rates(tree: ast.AST) -> bool:
    """Whether a file names the key, as who puts it into the groups by hand does."""
    return any(isinstance(one, ast.Constant) and one.value == "initial_lr" for one in ast.walk(tree))

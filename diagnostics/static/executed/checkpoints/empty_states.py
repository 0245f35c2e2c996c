"""Distributed checkpoints that are loaded into the state of an optimizer which has made no step. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Instance, Made, Mapped, Value, options
from diagnostics.static.program.functions import last_name

_HOME = "torch.distributed.checkpoint."
_LOADS = frozenset(["load", "load_state_dict"])
_OPTIMIZERS = "torch.optim."
# They keep nothing of a step unless they are told to.
_WITHOUT_STATE = {f"{_OPTIMIZERS}SGD": "momentum"}
_MAKES_STATE = "_init_optim_state"


def loaded_into_empty_state(execution: Execution) -> Iterator[tuple[Event, Made | None, Made]]:
    """Yields (dcp.load, the state that it fills, None where it asks for it itself; optimizer without a step)."""
    for at, one in enumerate(execution.events):
        table = one.argument(0, "state_dict") if _is_load(one) else None
        if not isinstance(table, Mapped):
            continue
        before = execution.events[:at]
        if any(each.name.endswith(_MAKES_STATE) for each in before):
            continue
        for held in table.fields.values():
            for given in options(held) if isinstance(held, Value) else ():
                optimizer = _optimizer_asked(given)
                if optimizer is None or not _keeps_state(optimizer):
                    continue
                if not any(each.name == ".step" and each.owner is optimizer for each in before):
                    yield one, given if isinstance(given, Made) and given is not optimizer else None, optimizer


def _is_load(event: Event) -> bool:
    return event.name.startswith(_HOME) and event.name.rpartition(".")[2] in _LOADS


def _optimizer_asked(value: Value) -> Made | None:
    """Returns the optimizer whose own state_dict() a value is, or that will be asked for it by the load."""
    if isinstance(value, Made):
        owner = value.owner if value.name == ".state_dict" else value
        return owner if isinstance(owner, Made) and _is_optimizer(owner) else None
    held = [value.fields.get(name) for name in _asked_by(value.kind.kind)] if isinstance(value, Instance) else []
    return next((one for one in held if isinstance(one, Made) and _is_optimizer(one)), None)


def _asked_by(kind: ast.ClassDef) -> Iterator[str]:
    """Yields the attributes whose state_dict() the method of that name of a class asks for."""
    for method in kind.body:
        if isinstance(method, ast.FunctionDef) and method.name == "state_dict":
            for node in ast.walk(method):
                if isinstance(node, ast.Call) and last_name(node.func) == "state_dict":
                    owner = getattr(node.func, "value", None)
                    if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name):
                        yield owner.attr


def _is_optimizer(value: Value | None) -> bool:
    if not isinstance(value, Made) or not value.name.startswith(_OPTIMIZERS):
        return False
    return "lr_scheduler" not in value.name and "swa_utils" not in value.name


def _keeps_state(optimizer: Made) -> bool:
    word = _WITHOUT_STATE.get(optimizer.name)
    given = optimizer.argument(2, word) if word is not None else None
    return word is None or not (given is None or (isinstance(given, Const) and not given.value))

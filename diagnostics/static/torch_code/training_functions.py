"""Which functions of a project train, and which set up a process group: themselves, or through what they call. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.exception_flow import steps_an_optimizer
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import argument, given
from diagnostics.static.program.own_nodes import Callable_
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code import model_wrappers

INIT = "torch.distributed.init_process_group"
INIT_PARAMETERS = ("backend", "init_method", "timeout", "world_size", "rank", "store", "group_name", "pg_options")
WRAPPERS = tuple(model_wrappers.WRAPPERS)
MANAGED = (
    "accelerate.Accelerator",
    "lightning.pytorch.Trainer",
    "lightning.fabric.Fabric",
    "transformers.Trainer",
    "transformers.Seq2SeqTrainer",
    "deepspeed.initialize",
)
_UNITS = {"days": 86400, "seconds": 1, "minutes": 60, "hours": 3600, "milliseconds": 0.001, "weeks": 604800}
_ORDER = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
_STARTS = {"spawn", "launch", "start_processes", "elastic_launch", "Process", "launch_agent"}
_OPTIMIZER = re.compile(r"optim|^opt(?:_\w+)?$|_opt$|scaler|engine", re.IGNORECASE)
_ROUNDS = 6


class TrainingFunctions:
    """Answers about the training code of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @cached_property
    def training(self) -> frozenset[int]:
        """Identities of the functions that train: they call backward, an optimizer's step or a trainer's fit."""
        first = [one for one in self._project.functions if any(is_step(node) for node in one.own_nodes)]
        return self._with_callers(first)

    @cached_property
    def setting_up(self) -> frozenset[int]:
        """Identities of the functions that come to init_process_group."""
        return self._with_callers([one for _, one in self._project.calls_by_canonical.get(INIT, ())])

    def training_call(self, statements: list[ast.stmt], function: Function) -> ast.Call | None:
        """Returns the first call in some statements that trains, or starts processes that do."""
        return next((one for one in own_calls(statements) if self.is_training(one, function)), None)

    def is_training(self, call: ast.Call, function: Function) -> bool:
        """Whether a call trains, or starts processes that do."""
        if is_step(call) or any(id(one) in self.training for one in self._project.targets(call, function)):
            return True
        return last_name(call.func) in _STARTS and any(id(one) in self.training for one in self.started(call, function))

    def started(self, call: ast.Call, function: Function) -> Iterator[Function]:
        """Yields the functions that a call of spawn, Process or Thread runs elsewhere."""
        values = [*call.args[:2], *(one.value for one in call.keywords if one.arg in ("target", "fn", "entrypoint"))]
        for value in values:
            if isinstance(value, (ast.Name, ast.Attribute, ast.Lambda, ast.Call)):
                yield from self._project.meant(value, function)

    def _with_callers(self, first: list[Function]) -> frozenset[int]:
        found = {id(one) for one in first}
        waiting = list(first)
        for _ in range(_ROUNDS):
            callers = [caller for one in waiting if one.name != "<module>" for _, caller in self._project.callers(one)]
            waiting = list({id(one): one for one in callers if id(one) not in found}.values())
            found |= {id(one) for one in waiting}
        return frozenset(found)


def group_timeout(call: ast.Call) -> ast.expr | None:
    """Returns the time limit that a call of init_process_group gives, by its name or its place."""
    return argument(call, "timeout", INIT_PARAMETERS)


def timedelta_seconds(value: ast.expr, function: Function, project: Project) -> float | None:
    """Returns the seconds of `timedelta(...)` of plain numbers, None of anything else."""
    if not isinstance(value, ast.Call) or last_name(value.func) != "timedelta":
        return None
    total, parts = 0.0, list(given(value, _ORDER))
    if len(parts) < len(value.args) + len(value.keywords):
        return None
    for name, part in parts:
        numbers = [one.value for one, _ in origins(part, function, project) if isinstance(one, ast.Constant)]
        if name not in _UNITS or len(numbers) != 1 or not isinstance(numbers[0], (int, float)):
            return None
        total += numbers[0] * _UNITS[name]
    return total


def is_step(node: ast.AST) -> bool:
    """Whether a node is a call that makes a part of a training step."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    name, base = node.func.attr, last_name(node.func.value)
    if name == "backward":
        return base != "autograd"
    if name == "fit":
        return base.lower().endswith("trainer")
    if name == "train":
        return base.lower().endswith("trainer")
    return steps_an_optimizer(node) and bool(_OPTIMIZER.search(base))


def own_calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yields the calls in some statements, without those in functions defined there."""
    waiting: list[ast.AST] = list(reversed(statements))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, (*Callable_.__args__, ast.ClassDef)):
            waiting += reversed(list(children(node)))

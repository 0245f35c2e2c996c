"""Experiment trackers that every rank starts. Pure."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Name, Value, sources

_INIT = "torch.distributed.init_process_group"
_OF_ITS_OWN = ("group", "mode", "disabled", "comment")
_SWITCHES = ("WANDB_MODE", "WANDB_DISABLED")


def started_by_all(execution: Execution, starts: Collection[str]) -> Iterator[tuple[Event, Event]]:
    """Yields (start of a tracker, init_process_group), where no test and no argument speaks of the rank."""
    made = next((one for one in execution.named(_INIT) if not one.is_handled), None)
    if made is None or _is_switched(execution):
        return
    for one in execution.events:
        if one.name not in starts or any(name in one.keywords for name in _OF_ITS_OWN):
            continue
        tests = [each.test for each in one.guards]
        given = [each for value in (*tests, *one.args, *one.keywords.values()) for each in sources(value)]
        asked = [each.node.test for each in one.guards if isinstance(each.node, (ast.If, ast.IfExp))]
        written = [Const(ast.unparse(each)) for each in asked]
        if one.is_handled or any(_is_first(each) for each in tests):
            continue
        if any(speaks_of_ranks(each) for each in (*given, *written)):
            continue
        yield one, made


def _is_first(test: Value) -> bool:
    """Whether a test compares with 0: whatever it counts, the first one alone may pass it."""
    return isinstance(test, Made) and any(isinstance(one, Const) and one.value == 0 for one in test.args)


def _is_switched(execution: Execution) -> bool:
    """Whether something switches trackers off by a variable of the environment."""
    return any(isinstance(one, Const) and one.value in _SWITCHES for event in execution.named("set []", ".setdefault")
               for one in event.args) or any(isinstance(one.owner, Name) and "wandb" in one.owner.name
                                             for one in execution.named("set mode"))  # fmt: skip

"""Tests of what every rank computes from all of a data set: they fall alike. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.training import loader_of, sampler_of
from diagnostics.static.execution.events import Execution, Guard
from diagnostics.static.execution.traces import executions, uncalled_executions
from diagnostics.static.execution.values import Instance, Made, Value, sources
from diagnostics.static.program.project import Project

_DRAWS = ("rand", "shuffle", "random", "time", "perf_counter", "monotonic")


def asks_for_whole_sets(decision: ast.AST, project: Project) -> bool:
    """Whether runs come to a test, and each time it is made of loaders that give every rank the same."""
    found = False
    for run in (*executions(project), *uncalled_executions(project)):
        guards = {id(one): one for event in run.events for one in event.guards if one.node is decision}
        for guard in guards.values():
            if not _is_of_whole_sets(guard, run):
                return False
            found = True
    return found


def _is_of_whole_sets(guard: Guard, run: Execution) -> bool:
    items = [one for one in sources(guard.test) if isinstance(one, Made) and one.name in ("item", "next")]
    loaders = [loader for one in items if (loader := loader_of(one.owner)) is not None]
    if not loaders or OwnData(run).of(guard.test, sizes=True) is not None:
        return False
    return all(_gives_all(loader) for loader in loaders)


def _gives_all(loader: Made) -> bool:
    """Whether a loader reads its data set in order, without a sampler of anybody and in no part of it."""
    given = (loader.argument(2, "shuffle"), loader.argument(3, "sampler"), loader.argument(4, "batch_sampler"))
    if any(one is not None for one in given) or "**" in loader.keywords or sampler_of(loader) is not None:
        return False
    return not any(_parts(one) for one in sources(loader.argument(0, "dataset")))


def _parts(value: Value) -> bool:
    """Whether a data set may be one of each rank: made of a part, by chance, or by a class of the project."""
    if isinstance(value, Made):
        return value.name in ("[]", "slice", "%") or any(word in value.name.lower() for word in _DRAWS)
    return isinstance(value, Instance)

"""Loops that go on where a checkpoint was left: its numbers are those of the step in which all ranks saved it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.execution.traces import executions, uncalled_executions
from diagnostics.static.execution.values import MOST_SEEN, Const, Made, OneOf, Value, made_of, sources
from diagnostics.static.program.project import Project


def goes_on_from_checkpoint(loop: ast.AST, project: Project) -> bool:
    """Whether runs come to a loop, and each time a number out of a checkpoint is all that ranks read for themselves."""
    found = False
    for run in (*executions(project), *uncalled_executions(project)):
        states = {id(each) for one in run.named(".load_state_dict") for given in one.args for each in _read(given)}
        for begun in run.named("iterate") if states else ():
            if begun.node is loop:
                if any(speaks_of_ranks(one) for one in _apart_from_numbers(begun.owner, states, OwnData(run))):
                    return False
                found = True
    return found


def _read(value: Value) -> Iterator[Value]:
    """Yields what was read from files for a value."""
    return (one for one in sources(value) if isinstance(one, Made) and one.name.rpartition(".")[2] == "load")


def _apart_from_numbers(value: Value | None, states: set[int], shared: OwnData) -> Iterator[Value]:
    """Yields what a value was made of, but for items of what states were restored from, and what all ranks have."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if one is None or id(one) in seen or shared.is_shared(one):
            continue
        seen.add(id(one))
        if _is_item(one) and any(id(each) in states for each in sources(one.owner)):
            continue
        if isinstance(one, Made) and one.name in ("is", "is not") and isinstance(one.args[0], OneOf):
            if not shared.is_shared(one.args[0]):
                waiting += one.args[0].tests  # which of them it is, not what it holds
            continue
        yield one
        waiting += made_of(one)


def _is_item(value: Value) -> TypeGuard[Made]:
    """Whether a value is what stands under a key that the program names."""
    named = isinstance(value, Made) and value.name in ("[]", ".get")
    return named and isinstance(value, Made) and isinstance((*value.args, None)[0], Const)

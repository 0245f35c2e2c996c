"""Expressions whose answer depends on whether the process group is there: is_initialized(), get_rank() with a fallback.

Pure. A question is the call of torch.distributed that is asked in the end.

What a trace does before its process group is there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from diagnostics.static.ordering.entry_points import EntryPoint
from diagnostics.static.ordering.event_order import CallEvent, Trace
from diagnostics.static.ordering.traced_calls import INIT, starts_group
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

IS_INITIALIZED = "torch.distributed.is_initialized"
ASKS = frozenset(["torch.distributed.get_rank", "torch.distributed.get_world_size"])
_VARIABLES = re.compile(r"^(?:\w+_)?(?:RANK|WORLD_SIZE|PROCID|NTASKS|LOCALID|SIZE)$")
_MOST = 3  # functions between a question and who wants to know
_SMALL = 12  # statements: a function that only asks is no longer


@dataclass(frozen=True, slots=True)
class GroupQuery:
    """One call of is_initialized, and the function it is in."""

    call: ast.Call
    function: Function


def questions(value: ast.AST, function: Function, project: Project, depth: int = _MOST) -> Iterator[GroupQuery]:
    """Yields the questions on whose answer an expression depends; a fallback to the environment answers rightly."""
    if reads_environment(value):
        return
    for node in walk(value):
        if isinstance(node, ast.Call):
            if project.name(node.func, function) == IS_INITIALIZED:
                yield GroupQuery(node, function)
            elif depth:
                for target in project.targets(node, function):
                    yield from _asked_by(target, project, depth - 1)
        elif isinstance(node, ast.Name) and depth:
            for assigned in _values(node.id, function):
                yield from questions(assigned, function, project, depth - 1)


def _values(name: str, function: Function) -> list[ast.expr]:
    values = function.assigned.get(name, ())
    return list(values) if len(values) == 1 else []


def _asked_by(function: Function, project: Project, depth: int) -> Iterator[GroupQuery]:
    """Yields what a small function asks before it gives its answer."""
    if not answers(function) or reads_environment(function.syntax):
        return
    for node in function.own_nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            yield from questions(node.value, function, project, depth)
        elif isinstance(node, ast.If) and _decides(node):
            yield from questions(node.test, function, project, depth)


def reads_environment(value: ast.AST) -> bool:
    """Whether an expression names a variable in which launchers tell a rank its number."""
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and _VARIABLES.search(one.value) is not None
        for one in walk(value)
    )


def answers(function: Function) -> bool:
    """Whether a function does little but answer: `def get_rank()` with a fallback."""
    if isinstance(function.syntax, (ast.Module, ast.Lambda)):
        return False
    statements = [one for one in function.nodes_of(ast.stmt) if isinstance(one, ast.stmt)]
    return len(statements) <= _SMALL and any(isinstance(one, ast.Return) and one.value for one in statements)


def _decides(node: ast.If) -> bool:
    return any(isinstance(one, (ast.Return, ast.Assign)) for part in (*node.body, *node.orelse) for one in walk(part))


@dataclass(frozen=True, slots=True)
class GroupQuerySite:
    """One test that asks for the group, and what it asks in the end."""

    test: ast.expr
    function: Function
    questions: tuple[GroupQuery, ...]


def initialised_after(trace: Trace, event: CallEvent, makers: Collection[str] = INIT) -> CallEvent | None:
    """Returns the call that makes the group after an event in the same run; None where it may be there already."""
    for one in trace.where(starts_group):
        if one.index < event.index and not trace.exclusive(one, event):
            return None
    later = (one for one in trace.named(*makers) if one.index > event.index and not trace.exclusive(one, event))
    return next(later, None)


def is_sure(trace: Trace, start: CallEvent, project: Project) -> bool:
    """Whether nobody can have made the group before the trace begins."""
    return trace.start is not EntryPoint.UNCALLED or not guarded(start, project)


def guarded(event: CallEvent, project: Project) -> bool:
    """Whether an event stands in a branch that asks for the group."""
    return any(True for _ in asking_arms(event, project))


def asking_arms(event: CallEvent, project: Project) -> Iterator[GroupQuerySite]:
    """Yields the tests around an event that ask for the group."""
    functions = {id(site.function): site.function for site in event.sites}.values()
    for arm in event.arms:
        test = getattr(arm.syntax, "test", arm.syntax)
        home = next((one for one in functions if any(node is test for node in one.own_nodes)), None)
        if home is not None and isinstance(test, ast.expr):
            found = tuple(questions(test, home, project))
            if found:
                yield GroupQuerySite(test, home, found)

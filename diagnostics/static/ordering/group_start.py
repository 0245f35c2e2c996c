"""What a trace does before its process group is there. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.ordering.entry_points import Start
from diagnostics.static.ordering.event_order import Event, Trace
from diagnostics.static.ordering.group_lifetime import Question, questions
from diagnostics.static.ordering.traced_calls import INIT, starts_group
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project


@dataclass(frozen=True, slots=True)
class Asking:
    """One test that asks for the group, and what it asks in the end."""

    test: ast.expr
    function: Function
    questions: tuple[Question, ...]


def start_after(trace: Trace, event: Event) -> Event | None:
    """Returns the call that makes the group after an event in the same run; None where it may be there already."""
    for one in trace.where(starts_group):
        if not trace.exclusive(one, event) and one.index < event.index:
            return None
    later = (one for one in trace.named(*INIT) if one.index > event.index and not trace.exclusive(one, event))
    return next(later, None)


def is_sure(trace: Trace, start: Event, project: Project) -> bool:
    """Whether nobody can have made the group before the trace begins."""
    return trace.start is not Start.UNCALLED or not guarded(start, project)


def guarded(event: Event, project: Project) -> bool:
    """Whether an event stands in a branch that asks for the group."""
    return any(True for _ in asking_arms(event, project))


def asking_arms(event: Event, project: Project) -> Iterator[Asking]:
    """Yields the tests around an event that ask for the group."""
    functions = {id(site.function): site.function for site in event.sites}.values()
    for arm in event.arms:
        test = getattr(arm.syntax, "test", arm.syntax)
        home = next((one for one in functions if any(node is test for node in one.own_nodes)), None)
        if home is not None and isinstance(test, ast.expr):
            found = tuple(questions(test, home, project))
            if found:
                yield Asking(test, home, found)

"""The process group is made twice, or asked for something before it is made or after it is destroyed.

What it does: follows each start of the project call by call and flags a second init_process_group with no
destroy_process_group between, a collective, get_rank() or get_world_size() that surely runs before the first
init_process_group or after the last destroy_process_group, and a second destroy_process_group.

Why it matters: each of these raises: "trying to initialize the default process group twice!", "Default process group
has not been initialized". At the end of a run the exception turns a finished training into a failed job.

Bad:

    dist.destroy_process_group()
    dist.barrier()

Good:

    dist.barrier()
    dist.destroy_process_group()

What it cannot see: groups made by code outside of the project. Calls inside `try` and behind `is_initialized()` are
taken to be meant, and nothing is said about functions that nobody in the project calls.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.groups import made_twice
from diagnostics.static.execution.events import Execution
from diagnostics.static.ordering.entry_points import EntryPoint
from diagnostics.static.ordering.event_order import CallEvent, EventOrder, Trace
from diagnostics.static.ordering.event_traces import event_traces
from diagnostics.static.ordering.group_lifetime import ASKS, guarded
from diagnostics.static.ordering.traced_calls import INIT, is_collective, starts_group
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A113"
NAME = "call-outside-group-lifetime"
SEVERITY = Severity.ERROR
_DESTROY = "torch.distributed.destroy_process_group"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls that raise because the group is there already, or not."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for second, first in made_twice(execution):
        yield violation(
            home(second, project),
            second.node,
            "the process group is there already: this call raises",
            "make it in one place, or ask dist.is_initialized() before",
            steps=(shown(first, project, "it was made here"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    yield from (one for one in _hits(project) if one.file is file)


@per_project
def _hits(project: Project) -> tuple[Violation, ...]:
    found: dict[tuple[str, int], Violation] = {}
    for trace in event_traces(project):
        if trace.start is not EntryPoint.UNCALLED and trace.first(*INIT) is not None:
            for one in _in_trace(trace, project):
                found.setdefault((one.file.shown, one.line), one)
    return tuple(found.values())


def _in_trace(trace: Trace, project: Project) -> Iterator[Violation]:
    turns = [one for one in trace.events if one.name == _DESTROY or starts_group(one.name)]
    for event in trace.events:
        check_one = _question(event)
        if check_one is not None:
            before = [one for one in turns if one.index < event.index and not trace.exclusive(one, event)]
            found = next(check_one(trace, before, event, project), None)
            if found is not None and not _is_meant(event, project):
                yield found


def _question(event: CallEvent) -> Callable[[Trace, list[CallEvent], CallEvent, Project], Iterator[Violation]] | None:
    """Returns what is to be asked about an event."""
    if event.name in INIT:
        return _twice
    if event.name in ASKS or is_collective(event.name):
        return _outside
    return _destroyed_twice if event.name == _DESTROY and _whole(event) else None


def _twice(trace: Trace, before: list[CallEvent], event: CallEvent, project: Project) -> Iterator[Violation]:
    for one in reversed(before):
        if one.name == _DESTROY or (starts_group(one.name) and one.name not in INIT):
            return
        if event.name.endswith("init_distributed"):
            return  # DeepSpeed's: the second one finds the group that is there
        if one.name == event.name and one.call is not event.call and trace.order(one, event) is EventOrder.SURELY:
            title = (
                f"init_process_group runs a second time: the first is at {_place(one, project)}, and this one raises"
            )
            fix = "make the group once, or ask `if not dist.is_initialized()` first"
            yield _hit(event, title, fix, one, "made here", project)
            return


def _outside(trace: Trace, before: list[CallEvent], event: CallEvent, project: Project) -> Iterator[Violation]:
    name = event.name.rpartition(".")[2]
    starts = [one for one in before if starts_group(one.name)]
    later = next(
        (one for one in trace.named(*INIT) if one.index > event.index and trace.order(event, one) is EventOrder.SURELY),
        None,
    )
    if not starts and later is not None:
        title = f"{name}() runs before init_process_group at {_place(later, project)}: it raises"
        yield _hit(event, title, "make the process group first", later, "the process group is made here", project)
    destroyed = [one for one in before if one.name == _DESTROY and _whole(one)]
    for one in destroyed[-1:]:
        again = any(start.index > one.index for start in starts)
        if starts and not again and trace.order(one, event) is EventOrder.SURELY:
            title = f"{name}() runs after destroy_process_group at {_place(one, project)}: it raises"
            yield _hit(event, title, "destroy the group last", one, "the process group is gone from here on", project)


def _destroyed_twice(trace: Trace, before: list[CallEvent], event: CallEvent, project: Project) -> Iterator[Violation]:
    for one in reversed(before):
        if starts_group(one.name):
            return
        if one.name == _DESTROY and one.call is not event.call and _whole(one):
            if trace.order(one, event) is EventOrder.SURELY:
                title = f"destroy_process_group runs a second time: the first is at {_place(one, project)}; this raises"
                yield _hit(event, title, "destroy the group once", one, "destroyed here", project)
            return


def _whole(event: CallEvent) -> bool:
    return not event.call.args and not event.call.keywords


def _is_meant(event: CallEvent, project: Project) -> bool:
    """Whether an exception is expected, or the program asks first."""
    if any(isinstance(arm.syntax, ast.ExceptHandler) for arm in event.arms):
        return True  # what failed before it may be what it would repeat
    return guarded(event, project) or any(_in_try(site.function.syntax, site.syntax) for site in event.sites)


def _in_try(around: ast.AST, node: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return any(
        isinstance(one, ast.Try) and one.handlers and one.body[0].lineno <= line <= (one.body[-1].end_lineno or 0)
        for one in walk(around)
    )


def _place(event: CallEvent, project: Project) -> str:
    return project.file_with(event.function).place(event.call.lineno)


def _hit(event: CallEvent, title: str, fix: str, other: CallEvent, text: str, project: Project) -> Violation:
    steps = [step(project.file_with(site.function), site.syntax, "calls on the way") for site in event.chain[-3:]]
    return violation(
        project.file_with(event.function),
        event.call,
        title,
        fix,
        steps=(step(project.file_with(other.function), other.call, text), *steps),
        confidence=Confidence.LIKELY if event.arms or other.arms else Confidence.CONFIRMED,
    )

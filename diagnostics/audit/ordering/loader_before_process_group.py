"""A loader that asks for its share of the data before there is a process group to ask.

What it does: follows each start of the project (scripts, functions given to a launcher) call by call, also through
functions and files, and flags samplers and data sets that ask for the rank before init_process_group on the same way:
a DistributedSampler without num_replicas and rank, and one that `if dist.is_initialized()` chooses.

Why it matters: asked too early, is_initialized() is False and a fallback answers "rank 0 of 1". The plain sampler is
taken, and every rank reads all the data in the same order: the job runs, costs N times as much and learns as one
process would. A DistributedSampler that must ask itself raises.

Bad:

    def make_loader(data):
        sampler = DistributedSampler(data) if dist.is_initialized() else None
        return DataLoader(data, sampler=sampler)

    loader = make_loader(data)
    dist.init_process_group("nccl")

Good:

    dist.init_process_group("nccl")
    loader = make_loader(data)

What it cannot see: groups that are made by code outside of the project, and loaders made through factories whose
name is only known at run time. A sampler that is given num_replicas and rank from the environment is healthy, and so
are plain loaders: whether they should be sharded is another rule's question.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.ordering.event_order import CallEvent, Site, Trace, meeting
from diagnostics.static.ordering.event_traces import event_traces
from diagnostics.static.ordering.group_lifetime import (
    ASKS,
    IS_INITIALIZED,
    GroupQuery,
    asking_arms,
    guarded,
    initialised_after,
    is_sure,
    questions,
)
from diagnostics.static.ordering.traced_calls import is_sampler
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A101"
NAME = "loader-before-process-group"
SEVERITY = Severity.ERROR
SUBJECT = ("DataLoader", "DistributedSampler")
CHECKLIST = "loaders and samplers are built after init_process_group"
_TORCHS = "torch.utils.data.distributed.DistributedSampler"
_DATA = re.compile(r"(?:Sampler|Dataset|DataLoader)$")
_SHARES = re.compile(r"rank|world|replica|shard", re.IGNORECASE)
_FIX = "call {start} before {site}, or give the sampler num_replicas and rank from the environment"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls that build a loader before the group."""
    yield from (one for one in _hits(project) if one.file is file)


@per_project
def _hits(project: Project) -> tuple[Violation, ...]:
    found: dict[tuple[str, int], Violation] = {}
    for trace in event_traces(project):
        for one in _in_trace(trace, project):
            found.setdefault((one.file.shown, one.line), one)
    return tuple(found.values())


def _in_trace(trace: Trace, project: Project) -> Iterator[Violation]:
    for event in trace.events:
        if is_sampler(event.name):
            yield from _sampler(trace, event, project)
        elif (event.name in ASKS or event.name == IS_INITIALIZED) and _in_data(event, project):
            yield from _share(trace, event, project)


def _sampler(trace: Trace, event: CallEvent, project: Project) -> Iterator[Violation]:
    asked = [one for asking in asking_arms(event, project) for one in asking.questions]
    asked += _asked_by_arguments(event, project)
    for question in asked:
        early = _before(trace, question, event)
        start = initialised_after(trace, early) if early is not None else None
        if early is not None and start is not None and not _again(trace, event, start):
            yield _made(trace, event, early, start, project)
            return
    if not asked and event.name == _TORCHS and not _explicit(event.call):
        start = initialised_after(trace, event)
        if start is not None and not guarded(event, project):
            yield _raises(trace, event, start, project)


def _asked_by_arguments(event: CallEvent, project: Project) -> list[GroupQuery]:
    values = [*event.call.args[1:3], *(one.value for one in event.call.keywords if one.arg in ("num_replicas", "rank"))]
    return [one for value in values for one in questions(value, event.function, project)]


def _explicit(call: ast.Call) -> bool:
    names = {one.arg for one in call.keywords}
    return None in names or len(call.args) >= 3 or {"num_replicas", "rank"} <= names or _starred(call)


def _starred(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args)


def _before(trace: Trace, question: GroupQuery, event: CallEvent) -> CallEvent | None:
    """Returns the last time before `event` that a question is asked."""
    times = [one for one in trace.events if one.call is question.call and one.index <= event.index]
    return times[-1] if times else None


def _again(trace: Trace, event: CallEvent, start: CallEvent) -> bool:
    """Whether the same is built once more when the group is there."""
    return any(one.call is event.call and one.index > start.index for one in trace.events)


def _in_data(event: CallEvent, project: Project) -> bool:
    """Whether a question decides what a data set or a sampler that is being made holds."""
    for site in event.sites:
        if site.function.name.endswith("__init__") and _is_data(site, project):
            return _decides(site)
    return False


def _decides(site: Site) -> bool:
    """Whether an answer ends up in a share: in a slice, or in a value named after ranks."""
    held = [one for one in site.function.nodes_of(ast.stmt) if isinstance(one, ast.stmt) and _holds(one, site.syntax)]
    statement = held[-1] if held else None
    if isinstance(statement, ast.Assign):
        return any(_SHARES.search(ast.unparse(one)) for one in statement.targets) or _slices(statement)
    if isinstance(statement, ast.If) and _holds(statement.test, site.syntax):
        return any(_slices(one) or (isinstance(one, ast.Assign) and _SHARES.search(ast.unparse(one)))
                   for one in statement.body)  # fmt: skip
    return False


def _slices(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Slice) for one in walk(node))


def _holds(node: ast.AST, inner: ast.AST) -> bool:
    return any(one is inner for one in walk(node))


def _share(trace: Trace, event: CallEvent, project: Project) -> Iterator[Violation]:
    start = initialised_after(trace, event)
    if start is None or _again(trace, event, start):
        return
    if event.name == IS_INITIALIZED:
        yield _made(trace, event, event, start, project)
    elif not guarded(event, project):
        yield _raises(trace, event, start, project)


def _made(trace: Trace, event: CallEvent, early: CallEvent, start: CallEvent, project: Project) -> Violation:
    file, node, site, starter = _where(event, start, project)
    asked = project.file_with(early.function)
    inner = _inside_constructors(event, meeting(event, start)[0], project)
    way = [one for one in (inner,) if one.syntax is not node]
    starter = _short(start.call) if way else starter
    return violation(
        project.file_with(inner.function),
        inner.syntax,
        f"{site} asks whether there is a process group, but {starter} makes it later: the answer is no, "
        "and every rank reads all the data",
        _FIX.format(start=starter, site=site),
        steps=(
            step(file, node, f"{site} runs first"),
            *(step(project.file_with(one.function), one.syntax, f"... {_short(one.syntax)} in it") for one in way),
            step(asked, early.call, f"{ast.unparse(early.call)} is False here"),
            step(project.file_with(event.function), event.call, f"{_short(event.call)} is not made, or for one rank"),
            step(project.file_with(start.function), start.call, "the process group is made only here"),
        )
        if early is not event
        else (
            step(file, node, f"{site} runs first"),
            step(asked, early.call, f"{ast.unparse(early.call)} is False here"),
            step(project.file_with(start.function), start.call, "the process group is made only here"),
        ),
        confidence=_confidence(trace, early, start, project),
    )


def _raises(trace: Trace, event: CallEvent, start: CallEvent, project: Project) -> Violation:
    file, node, site, starter = _where(event, start, project)
    return violation(
        file,
        node,
        f"{site} needs the process group, but {starter} makes it later: "
        "this raises 'Default process group has not been initialized'",
        _FIX.format(start=starter, site=site),
        steps=(
            step(project.file_with(event.function), event.call, f"{_short(event.call)} asks for rank and world size"),
            step(project.file_with(start.function), start.call, "the process group is made only here"),
        ),
        confidence=_confidence(trace, event, start, project),
    )


def _where(event: CallEvent, start: CallEvent, project: Project) -> tuple[ProjectFile, ast.AST, str, str]:
    mine, yours = meeting(event, start)
    return project.file_with(mine.function), mine.syntax, _short(mine.syntax), _short(yours.syntax)


def _inside_constructors(event: CallEvent, outer: Site, project: Project) -> Site:
    """Returns the call that builds the loader, where the outermost one makes an object that does it when it is made."""
    sites = event.sites
    at = next(number for number, one in enumerate(sites) if one.syntax is outer.syntax)
    while at + 1 < len(sites) and sites[at + 1].function.name.endswith("__init__"):
        if _is_data(sites[at + 1], project):
            break
        at += 1
    return sites[at]


def _is_data(site: Site, project: Project) -> bool:
    """Whether a site is in a class of samplers, data sets or loaders."""
    kind = project.class_of(site.function)
    return kind is not None and any(_DATA.search(one) for one in (kind.name, *map(last_name, kind.bases)))


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return f"{ast.unparse(node.func)}()"
    return ast.unparse(node).partition("\n")[0]


def _confidence(trace: Trace, event: CallEvent, start: CallEvent, project: Project) -> Confidence:
    if not is_sure(trace, start, project) or any(arm.test.rpartition(":")[2].isdigit() for arm in event.arms):
        return Confidence.POSSIBLE
    known = {(arm.test, arm.taken) for arm in start.arms}
    asked = {id(one.test) for one in asking_arms(event, project)}
    free = [
        arm
        for arm in event.arms
        if (arm.test, arm.taken) not in known
        and id(getattr(arm.syntax, "test", arm.syntax)) not in asked
        and "is_available" not in ast.unparse(getattr(arm.syntax, "test", arm.syntax))
    ]
    return Confidence.LIKELY if free else Confidence.CONFIRMED

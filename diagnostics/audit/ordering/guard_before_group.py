"""A decision by rank that is taken before there are ranks.

What it does: follows each start of the project call by call and flags helpers that fall back to rank 0 where
is_initialized() is False (`get_rank()`, `is_main_process()`) and are asked on the same way before the group is made, by
init_process_group, deepspeed.initialize or an Accelerator, where the answer is kept and used after it, seeds a
generator, or opens a tracker or a file.

Why it matters: before the group is made every rank takes itself for rank 0 of 1. All of them log, all write the same
file, all draw the same random numbers; nothing fails, so it is found in the tracker weeks later.

Bad:

    rank = get_rank()  # 0 where not dist.is_initialized()
    dist.init_process_group("nccl")
    if rank == 0:
        torch.save(model.state_dict(), path)

Good:

    dist.init_process_group("nccl")
    rank = get_rank()

What it cannot see: answers that are handed on through objects. Messages on the screen are not counted: they do no
harm. Loaders and samplers are rule A101's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.ordering.event_order import CallEvent, Site, meeting
from diagnostics.static.ordering.event_traces import event_traces
from diagnostics.static.ordering.group_lifetime import (
    IS_INITIALIZED,
    GroupQuery,
    initialised_after,
    is_sure,
    questions,
    reads_environment,
)
from diagnostics.static.ordering.traced_calls import MAKE_GROUP, is_seed
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A102"
NAME = "guard-before-group"
SEVERITY = Severity.WARNING
_WRITES = {"save", "SummaryWriter", "start_run", "dump", "to_csv", "savez"}
_FETCHES = {"urlretrieve", "urlopen", "extractall", "snapshot_download", "hf_hub_download", "unpack_archive",
            "download", "download_and_extract_archive", "download_url", "untar"}  # fmt: skip
_TRACKERS = {"wandb.init", "mlflow.start_run", "comet_ml.Experiment", "neptune.init_run", "aim.Run"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the decisions by rank that are taken before the group is made."""
    yield from (one for one in _hits(project) if one.file is file)


@per_project
def _hits(project: Project) -> tuple[Violation, ...]:
    found: dict[tuple[str, int], Violation] = {}
    for trace in event_traces(project):
        for event in trace.named(IS_INITIALIZED):
            start = initialised_after(trace, event, MAKE_GROUP)
            if start is not None and is_sure(trace, start, project):
                for one in _decision(event, start, project):
                    found.setdefault((one.file.shown, one.line), one)
    return tuple(found.values())


def _decision(event: CallEvent, start: CallEvent, project: Project) -> Iterator[Violation]:
    mine, _ = meeting(event, start)
    if mine.syntax is event.call or not isinstance(mine.syntax, ast.Call):
        return  # asked in the open: that is how a group is made only once
    answered = list(_of_answer(mine, event, start, project)) if _answers(mine, event, project) else []
    yield from answered or _inside(mine, event, start, project)


def _of_answer(mine: Site, event: CallEvent, start: CallEvent, project: Project) -> Iterator[Violation]:
    statement = event.statement if mine.syntax is event.call else _statement(mine)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        yield from _kept(mine, statement, event, start, project)
    elif isinstance(statement, ast.If) and any(one is mine.syntax for one in walk(statement.test)):
        yield from _guards(mine, statement, event, start, project)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _seeds(mine, statement.value, event, start, project)


def _inside(mine: Site, event: CallEvent, start: CallEvent, project: Project) -> Iterator[Violation]:
    """Yields a call of a function that decides by the rank, within itself, what it downloads or writes."""
    deeper = event.sites[next((at for at, one in enumerate(event.sites) if one.syntax is mine.syntax), 0) + 1 :]
    for site in deeper:
        statement = _statement(site)
        if not isinstance(statement, (ast.Assign, ast.If)):
            continue
        asks = questions(
            statement.value if isinstance(statement, ast.Assign) else statement.test, site.function, project
        )
        if not any(one.call is event.call for one in asks):
            continue
        names = _named_after(statement, site) if isinstance(statement, ast.Assign) else set()
        guards = [statement] if isinstance(statement, ast.If) else site.function.nodes_of(ast.If)
        for node in guards:
            if not isinstance(node, ast.If) or node.lineno < statement.lineno:
                continue
            if node is not statement and not any(_reads(node.test, name) for name in names):
                continue
            if isinstance(statement, ast.Assign) and _is_no(node.test, statement):
                continue
            written = _writes(node, site, project) or _fetches(node, site, project)
            if written and not _is_question(node.test, site, project):
                title = (
                    f"{ast.unparse(mine.syntax)[:50]} runs before the process group is made: `{ast.unparse(node.test)}`"
                    f" in it answers alike on every rank, and all of them call {written}"
                )
                text = f"`{ast.unparse(node.test)}` decides who calls {written}"
                yield _hit(mine, mine.syntax, title, event, start, project,
                           step(project.file_with(site.function), node, text))  # fmt: skip
                return


def _named_after(statement: ast.Assign, site: Site) -> set[str]:
    """Returns the name that keeps the answer, and those that follow from it: `rank = get_rank() if there else 0`."""
    names = {ast.unparse(statement.targets[0])}
    nodes = (one for one in site.function.nodes_of((ast.Assign, ast.If)) if isinstance(one, (ast.Assign, ast.If)))
    for later in sorted(nodes, key=lambda one: one.lineno):
        if later.lineno <= statement.lineno or reads_environment(later):
            continue
        if isinstance(later, ast.If):
            arms = [{ast.unparse(one.targets[0]) for one in arm if isinstance(one, ast.Assign)}
                    for arm in (later.body, later.orelse)]  # fmt: skip
            found, chosen = arms[0] & arms[1], later.test
        else:
            found, chosen = {ast.unparse(later.targets[0])}, _chosen_by(later.value)
        if any(_reads(chosen, name) for name in names):
            names |= found
    return names


def _is_no(test: ast.expr, statement: ast.Assign) -> bool:
    """Whether a test is whether the group is there, by a name: the branch is then left out, and not taken by all."""
    asked = isinstance(statement.value, (ast.BoolOp, ast.Call)) and ast.unparse(test) == ast.unparse(
        statement.targets[0]
    )
    return asked and not any(last_name(one.func) == "get_rank" for one in walk(statement.value)
                             if isinstance(one, ast.Call))  # fmt: skip


def _chosen_by(value: ast.expr) -> ast.expr:
    """Returns what decides which value it is: the test of a choice, a comparison; nothing of anything else."""
    if isinstance(value, ast.IfExp):
        return value.test
    return value if isinstance(value, (ast.BoolOp, ast.Compare, ast.UnaryOp, ast.Name)) else ast.Constant(None)


def _is_question(test: ast.expr, site: Site, project: Project) -> bool:
    """Whether a test asks for the group, and for no rank."""
    return any(
        isinstance(one, ast.Call) and project.name(one.func, site.function) == IS_INITIALIZED for one in walk(test)
    )


def _fetches(node: ast.If, site: Site, project: Project) -> str:
    """Returns what a branch calls to download or unpack something, "" for nothing."""
    for one in (one for part in node.body for one in walk(part)):
        if isinstance(one, ast.Call) and (last_name(one.func) in _FETCHES or _is_told_to_fetch(one)):
            return f"{ast.unparse(one.func)}()"
    return ""


def _is_told_to_fetch(call: ast.Call) -> bool:
    """Whether a data set is told to download itself: CIFAR10(root, download=True)."""
    return any(
        one.arg == "download" and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in call.keywords
    )


def _answers(site: Site, event: CallEvent, project: Project) -> bool:
    asked: Iterator[GroupQuery] = questions(site.syntax, site.function, project)
    return any(one.call is event.call for one in asked)


def _statement(site: Site) -> ast.stmt | None:
    held = [
        one
        for one in site.function.nodes_of(ast.stmt)
        if isinstance(one, ast.stmt) and any(node is site.syntax for node in walk(one))
    ]
    return held[-1] if held else None


def _kept(site: Site, node: ast.Assign, event: CallEvent, start: CallEvent, project: Project) -> Iterator[Violation]:
    name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
    if len(site.function.assigned.get(name, ())) != 1:
        return
    last = max(getattr(one.syntax, "end_lineno", 0) for one in start.sites if one.function is site.function)
    for later in site.function.own_nodes:
        if getattr(later, "lineno", 0) <= last:
            continue
        if isinstance(later, ast.If) and _reads(later.test, name) and _writes(later, site, project):
            text = f"`{ast.unparse(later.test)}` decides by `{name}` what it writes"
        elif isinstance(later, ast.Call) and is_seed(last_name(later.func)) and _reads(later, name):
            text = f"{ast.unparse(later)} seeds by `{name}`"
        else:
            continue
        title = f"`{ast.unparse(node)}` runs before the process group is made: it is the same on every rank, and {text}"
        yield _hit(site, node, title, event, start, project, step(project.file_with(site.function), later, text))
        return


def _guards(site: Site, node: ast.If, event: CallEvent, start: CallEvent, project: Project) -> Iterator[Violation]:
    written = _writes(node, site, project)
    if written and any(one.function is site.function and one.syntax.lineno > (node.end_lineno or 0)  # type: ignore[attr-defined]
                       for one in start.sites):  # fmt: skip
        title = (
            f"`{ast.unparse(node.test)}` is asked before the process group is made: "
            f"it answers alike on every rank, and all of them call {written}"
        )
        yield _hit(site, node, title, event, start, project)


def _seeds(site: Site, call: ast.Call, event: CallEvent, start: CallEvent, project: Project) -> Iterator[Violation]:
    if is_seed(last_name(call.func)) and call is not site.syntax:
        title = f"{ast.unparse(call)} runs before the process group is made: every rank takes itself for rank 0"
        yield _hit(site, call, title, event, start, project)


def _writes(node: ast.If, site: Site, project: Project) -> str:
    """Returns what a branch calls to write something or to start a tracker, "" for nothing."""
    for part in node.body:
        for one in walk(part):
            if isinstance(one, ast.Call):
                name = project.name(one.func, site.function)
                if name in _TRACKERS or last_name(one.func) in _WRITES or (name == "open" and _opens_to_write(one)):
                    return f"{ast.unparse(one.func)}()"
    return ""


def _opens_to_write(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "mode")]
    return any(isinstance(one, ast.Constant) and str(one.value)[:1] in ("w", "a") for one in modes)


def _reads(value: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in walk(value))


def _hit(
    site: Site, node: ast.AST, title: str, event: CallEvent, start: CallEvent, project: Project, *more: ExplanationStep
) -> Violation:
    mine, starter = meeting(event, start)
    assert mine is not None  # noqa: S101
    steps = [
        step(project.file_with(event.function), event.call, "is False here: the fallback answers for rank 0"),
        step(project.file_with(start.function), start.call, "the process group is made only here"),
    ]
    return violation(
        project.file_with(site.function),
        node,
        title,
        f"ask after {ast.unparse(starter.syntax).partition(chr(10))[0]}",
        steps=(*steps, *more),
        confidence=Confidence.LIKELY,
    )

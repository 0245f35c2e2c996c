"""DistributedSampler shuffles, and set_epoch is never called.

What it does: flags shuffling DistributedSamplers in programs that train for several epochs and never call set_epoch, or
call it only on other samplers, as on that of the validation set, or ask an object with `hasattr` that hides the sampler
and has none.

Why it matters: the order is drawn from seed + epoch. Without set_epoch every epoch has the same order and each rank
the same samples in the same batches: shuffling happens once, and a rank never sees the samples of the others. Nothing
warns.

Bad:

    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(epochs):
        for batch in loader: ...

Good:

    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader: ...

What it cannot see: trainers outside of the project that call it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Edit, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.epochs import (
    own_samplers_never_told,
    same_order_for_ever,
    samplers_behind_a_question,
)
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Instance
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import LOADER, SAMPLER, constant, managed, read_by
from diagnostics.static.torch_code.training_functions import TrainingFunctions, own_calls

CODE = "A156"
NAME = "set-epoch-missing"
SEVERITY = Severity.WARNING
RUN_CLASS = "missing-set-epoch"
WORDS = ("DistributedSampler", "set_epoch")
SUBJECT = ("DistributedSampler",)
CHECKLIST = "set_epoch is called on distributed samplers"
_EPOCH = re.compile(r"epoch", re.IGNORECASE)
_EVALUATION = re.compile(r"val|test|eval", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the shuffling samplers that are never told the epoch."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for sampler, loop, other in same_order_for_ever(execution):
        told = (
            (shown(other, project, "the loader is told, which has no set_epoch: its sampler is not"),) if other else ()
        )
        yield violation(
            home(sampler, project),
            sampler.node or loop.node,
            "this DistributedSampler shuffles, and set_epoch is never called on it: every epoch has the same order",
            "sampler.set_epoch(epoch) as the first statement of the loop over the epochs",
            steps=(
                shown(sampler, project, "the order is drawn from seed + epoch"),
                step(project.file_with(loop.function), loop.node, "the epochs"),
                *told,
            ),
            confidence=Confidence.LIKELY,
        )
    for own, loop in own_samplers_never_told(execution):
        calls = project.calls_by_name.get("set_epoch", ())
        here = calls[0] if len(calls) == 1 else None
        kind = own.kind.kind.name
        yield violation(
            project.file_with(here[1]) if here is not None else home(own, project),
            here[0] if here is not None else own.node or loop.node,
            f"{kind} draws its order from the epoch, and its set_epoch is never called: every epoch has the same order"
            + (", since this call is for something else" if here is not None else ""),
            "call set_epoch(epoch) of the sampler itself, as the first statement of the loop over the epochs; behind "
            "batch_sampler= it is loader.batch_sampler",
            steps=(
                shown(own, project, f"{kind} is made here"),
                step(project.file_with(loop.function), loop.node, "the epochs"),
            ),
            confidence=Confidence.LIKELY,
        )

    for asked, outer, inner, loop in samplers_behind_a_question(execution):
        kind = inner.kind.kind.name if isinstance(inner, Instance) else "the DistributedSampler"
        yield violation(
            home(asked, project),
            asked.node,
            f"{outer.kind.kind.name} has no set_epoch, and this call is left out in silence: {kind} in it has the same "
            "order in every epoch",
            f"give {outer.kind.kind.name} a set_epoch that hands the epoch on to what it holds",
            steps=(
                shown(inner, project, "the order is drawn from the epoch"),
                shown(outer, project, f"{outer.kind.kind.name} stands between it and the loader"),
                step(project.file_with(loop.function), loop.node, "the epochs"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != SAMPLER or not _shuffles(call, function, project):
            continue
        name = _assigned_to(call, function)
        told = "set_epoch" in project.fact(ImportClosures).words(file.shown)
        if managed(file, project) or (told and not _told_others(name, function, file, project)):
            continue
        if _EVALUATION.search(f"{name} {function.name}"):
            continue
        yield from _hits(file, project, call, function, name)


def _hits(file: ProjectFile, project: Project, call: ast.Call, function: Function, name: str) -> Iterator[Violation]:
    loop = _epoch_loop(file, function, _loaders(project, function, name, call), project)
    other = loop or next(_other_loops(file, project), None)
    if other is None:
        return
    place = project.file_with(other[1])
    yield violation(
        file,
        call,
        f"{name or 'this DistributedSampler'} shuffles, and set_epoch is never called{' on it' if name else ''}: every "
        "epoch has the same order",
        f"{name or 'sampler'}.set_epoch(epoch) as the first statement of the loop over the epochs",
        steps=(step(file, call, "the order is drawn from seed + epoch"), step(place, other[0], "the epochs")),
        confidence=Confidence.CONFIRMED if loop is not None else Confidence.LIKELY,
        edits=_edits(file, loop[0], name) if loop is not None and name else (),
    )


def _told_others(name: str, function: Function, file: ProjectFile, project: Project) -> bool:
    """Whether each set_epoch of the programs is called on a sampler that is known, and is another one than this."""
    around = project.fact(ImportClosures).around(file.shown)
    calls = [(call, where) for call, where in project.calls_by_name.get("set_epoch", ()) if where.file in around]
    trees = [found.tree for one in around if (found := project.by_path.get(one)) is not None]
    named = sum(_names_set_epoch(node) for tree in trees if tree is not None for node in walk(tree))
    if not name or not calls or named != len(calls) or any(where is not function for _, where in calls):
        return False
    return all(_is_other(call.func.value, name, function, project) for call, _ in calls
               if isinstance(call.func, ast.Attribute))  # fmt: skip


def _names_set_epoch(node: ast.AST) -> bool:
    named = node.attr if isinstance(node, ast.Attribute) else node.name if isinstance(node, ast.FunctionDef) else ""
    return named == "set_epoch" or (isinstance(node, ast.Constant) and node.value == "set_epoch")


def _is_other(value: ast.expr, name: str, function: Function, project: Project) -> bool:
    """Whether a value is a sampler made in this function, or that of a loader, other than the one of this name."""
    if isinstance(value, ast.Attribute) and value.attr in ("sampler", "batch_sampler"):
        made = function.assigned.get(last_name(value.value), []) if isinstance(value.value, ast.Name) else []
        given = [
            keyword.value
            for one in made
            if isinstance(one, ast.Call) and project.name(one.func, function) == LOADER
            for keyword in one.keywords
            if keyword.arg == "sampler"
        ]
        return len(given) == 1 and isinstance(given[0], ast.Name) and _is_other(given[0], name, function, project)
    if not isinstance(value, ast.Name) or value.id == name:
        return False
    values = function.assigned.get(value.id, [])
    return bool(values) and all(
        isinstance(one, ast.Call) and project.name(one.func, function) == SAMPLER for one in values
    )


def _shuffles(call: ast.Call, function: Function, project: Project) -> bool:
    if any(one.arg is None for one in call.keywords):
        return False
    given = [*call.args[3:4], *(one.value for one in call.keywords if one.arg == "shuffle")]
    return not given or constant(given[0], function, project) is True


def _assigned_to(call: ast.Call, function: Function) -> str:
    return next((name for name, values in function.assigned.items() if any(one is call for one in values)), "")


def _loaders(project: Project, function: Function, name: str, made: ast.Call) -> frozenset[str]:
    """Returns the names of the loaders of a function that use a sampler."""
    found = set()
    for loader, values in function.assigned.items():
        for value in values:
            for call in walk(value):
                if isinstance(call, ast.Call) and project.name(call.func, function) == LOADER:
                    given = [one.value for one in call.keywords if one.arg == "sampler"] + call.args[3:4]
                    if any(one is made or (isinstance(one, ast.Name) and one.id == name) for one in given):
                        found.add(loader)
    return frozenset(found)


def _epoch_loop(
    file: ProjectFile, function: Function, loaders: frozenset[str], project: Project
) -> tuple[ast.For, Function] | None:
    """Returns the loop over the epochs in which a function reads one of these loaders, or hands it to its training."""
    for node in function.own_nodes:
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name) or not loaders:
            continue
        if not _goes_round(node, function, project) or read_by(node.iter, loaders):
            continue
        inner = any(isinstance(one, ast.For) and read_by(one.iter, loaders) for one in walk(node))
        passed = any(read_by(one, loaders) for call in own_calls(node.body) for one in call.args)
        if (inner or passed) and project.fact(TrainingFunctions).training_call(node.body, function) is not None:
            return node, function
    return None


def _goes_round(loop: ast.For, function: Function, project: Project) -> bool:
    """Whether a loop may go round more than once."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[count]):
            return constant(count, function, project) not in (0, 1)
    return True


def _other_loops(file: ProjectFile, project: Project) -> Iterator[tuple[ast.For | ast.While, Function]]:
    """Yields the loops over epochs, by their names, of the programs that a sampler is in."""
    around = project.fact(ImportClosures).around(file.shown)
    for function in project.functions:
        if function.file in around and id(function) in project.fact(TrainingFunctions).training:
            for node in function.own_nodes:
                if isinstance(node, ast.For):
                    if _EPOCH.search(last_name(node.target)) and _goes_round(node, function, project):
                        yield node, function
                elif isinstance(node, ast.While) and _counts_epochs(node) and _trains(node, function, project):
                    yield node, function


def _trains(loop: ast.While, function: Function, project: Project) -> bool:
    return project.fact(TrainingFunctions).training_call(loop.body, function) is not None


def _counts_epochs(loop: ast.While) -> bool:
    """Whether a loop goes on while an epoch's number is less than how many there are to be."""
    match loop.test:
        case ast.Compare(left=counted, ops=[ast.Lt() | ast.LtE()], comparators=[limit]):
            return bool(_EPOCH.search(last_name(counted))) and not isinstance(limit, ast.Constant)
    return False


def _edits(file: ProjectFile, loop: ast.For, name: str) -> tuple[Edit, ...]:
    assert isinstance(loop.target, ast.Name)  # noqa: S101 (loops over a name are asked for)
    first = loop.body[0]
    if first.lineno == loop.lineno or any(
        isinstance(one, (ast.If, ast.IfExp, ast.Try)) for one in _around(file, loop, name)
    ):
        return ()
    indent = " " * first.col_offset
    start = (first.lineno, first.col_offset)
    return (Edit(start=start, end=start, text=f"{name}.set_epoch({loop.target.id})\n{indent}"),)


def _around(file: ProjectFile, loop: ast.For, name: str) -> Iterator[ast.AST]:
    """Yields what the sampler's assignment stands in: under a condition it may be None."""
    top = file.parents.get(loop)
    for node in walk(top) if top is not None else ():
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            parent = file.parents.get(node)
            while parent is not None and parent is not top:
                yield parent
                parent = file.parents.get(parent)
            if isinstance(node.value, ast.IfExp):
                yield node.value

"""A schedule that is shorter by the warm-up is given back before the warm-up has been put in front of it.

What it does: flags functions that join a warm-up and a schedule (SequentialLR, a project's or library's warm-up
wrapper), and on another way out give back a schedule whose length has the warm-up taken off, by itself.

Why it matters: that schedule begins with the full rate, which the warm-up was to spare the model, and ends early by the
warm-up: a cosine then rises again while the training goes on. Losses are printed as ever.

Bad:

    if name == "cosine":
        return CosineAnnealingLR(optimizer, total - warmup)   # the others go on to SequentialLR below
    ...
    return SequentialLR(optimizer, [LinearLR(optimizer, 0.1, total_iters=warmup), main], [warmup])

Good:

    if name == "cosine":
        main = CosineAnnealingLR(optimizer, total - warmup)

What it cannot see: warm-ups that a loop does by hand; ways out under a test that asks for the warm-up are right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A127"
NAME = "schedule-left-without-warmup"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-schedule"
WORDS = ("lr_scheduler",)
CHECKLIST = "each schedule has its warm-up in front of it"
_SCHEDULERS = "torch.optim.lr_scheduler."
_SEQUENTIAL = "torch.optim.lr_scheduler.SequentialLR"
# Joins, and those that may warm up by themselves.
_OTHERS = frozenset(["SequentialLR", "ChainedScheduler", "LambdaLR", "MultiplicativeLR", "OneCycleLR", "CyclicLR"])
_WARMUP = re.compile(r"warm|ramp", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the ways out that leave the warm-up behind."""
    for function in () if file.is_test else project.functions_in(file):
        joined = next(_joined(function, project), None)
        if joined is not None:
            yield from _left(file, function, joined, project)


def _left(file: ProjectFile, function: Function, joined: ast.Call, project: Project) -> Iterator[Violation]:
    lengths = set(_lengths(joined))
    for node in function.nodes_of(ast.Return):
        if not isinstance(node, ast.Return) or not isinstance(node.value, (ast.Call, ast.Name, ast.Attribute)):
            continue
        asked = (ast.unparse(one) for one in conditions(node, function, file))
        if any(_WARMUP.search(one) or any(each in one for each in lengths) for one in asked):
            continue
        for made, where in origins(node.value, function, project):
            taken = _shortened(made, where, lengths, project) if isinstance(made, ast.Call) else None
            if taken is None:
                continue
            yield violation(
                file,
                node,
                f"this gives back {last_name(made.func)}, shorter by `{taken}`, and leaves out the warm-up that "  # type: ignore[attr-defined]
                f"{last_name(joined.func)} puts in front of it elsewhere: it begins with the full rate and ends early",
                f"keep it in a name and let {last_name(joined.func)} join the two",
                steps=(
                    step(project.file_with(where), made, "the schedule is made here"),
                    step(file, joined, "the warm-up is put in front here"),
                )[made is node.value :],
                confidence=Confidence.LIKELY,
            )
            break


def _joined(function: Function, project: Project) -> Iterator[ast.Call]:
    """Yields the calls that put a warm-up in front of a schedule."""
    for call in function.nodes_of(ast.Call):
        if not isinstance(call, ast.Call):
            continue
        name = project.name(call.func, function)
        if name == _SEQUENTIAL:
            yield call
        elif _WARMUP.search(last_name(call.func)) and not name.startswith(_SCHEDULERS):
            given = (*call.args, *(one.value for one in call.keywords))
            if any(
                _is_schedule(made, where, project) for one in given for made, where in origins(one, function, project)
            ):
                yield call


def _is_schedule(made: ast.expr, where: Function, project: Project) -> bool:
    return isinstance(made, ast.Call) and project.name(made.func, where).startswith(_SCHEDULERS)


def _lengths(joined: ast.Call) -> Iterator[str]:
    """Yields what a join gives as the length of the warm-up, as it is written."""
    milestones = [*joined.args[2:3], *(one.value for one in joined.keywords if one.arg == "milestones")]
    for one in milestones if last_name(joined.func) == "SequentialLR" else ():
        yield from (ast.unparse(each) for each in getattr(one, "elts", ()) if not isinstance(each, ast.Constant))
    for one in (*joined.args, *(each.value for each in joined.keywords)):
        if isinstance(one, (ast.Name, ast.Attribute)) and _WARMUP.search(last_name(one)):
            yield ast.unparse(one)


def _shortened(made: ast.Call, where: Function, lengths: set[str], project: Project) -> str | None:
    """Returns what is taken off the length of a schedule, None where it is no length of a warm-up."""
    if not _is_schedule(made, where, project) or last_name(made.func) in _OTHERS:
        return None
    for one in (*made.args[1:], *(each.value for each in made.keywords)):
        values = [one, *(where.assigned.get(one.id, ()) if isinstance(one, ast.Name) else ())]
        for node in (node for value in values for node in walk(value)):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                text = ast.unparse(node.right)
                if text in lengths or _WARMUP.search(text):
                    return text
    return None

"""A schedule that counts optimizer steps is given to Lightning without "interval": "step".

What it does: flags what configure_optimizers of a LightningModule gives back as a scheduler with no "interval", where
the scheduler's length is a number of steps: `estimated_stepping_batches`, `max_steps`, `len(loader) * epochs`, a
function that goes by `warmup_steps`.

Why it matters: without an interval Lightning steps a scheduler once an epoch. A warm-up of 4000 steps takes 4000
epochs, so the run is over long before the learning rate has left 0; a decay never comes.

Bad:

    scheduler = LambdaLR(optimizer, lambda step: min(1.0, step / self.hparams.warmup_steps))
    return [optimizer], [scheduler]

Good:

    return [optimizer], [{"scheduler": scheduler, "interval": "step"}]

What it cannot see: numbers that are written out, schedules that a callback steps, and settings whose names do not say
what they count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.module_classes import ModuleHierarchy

CODE = "A340"
NAME = "steps-counted-by-epoch"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-schedule"
WORDS = ("configure_optimizers",)
CHECKLIST = "schedules that count steps are stepped with each step"
_HOME = "lightning.pytorch.LightningModule"
# Who sets the interval, or steps the schedule, where it is not seen in what configure_optimizers gives back.
_BY_HAND = frozenset(["automatic_optimization", "lr_scheduler_step", "LRSchedulerConfig", "lr_scheduler_configs"])
_HELD = "lr_schedulers"  # gives the schedules that Lightning has made: to step them, or to log their rates
_STEPS = re.compile(r"(?:^|_)(?:steps|iters|iterations|stepping_batches|training_batches|updates)$")
_KEPT = {"scheduler", "lr_scheduler"}
_DEPTH = 3
_MOST = 40


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the schedulers that are stepped too seldom."""
    if file.is_test or any(_HELD in one.words for one in project.python if one is not file):
        return  # a callback may step the schedules
    hierarchy = project.fact(ModuleHierarchy)
    for function in project.functions_in(file):
        kind = project.class_of(function)
        known = hierarchy.by_syntax.get(id(kind)) if function.name.endswith(".configure_optimizers") else None
        if known is None or _HOME not in hierarchy.roots(known) or _is_by_hand(known.syntax):
            continue
        for node in function.nodes_of(ast.Return):
            value = node.value if isinstance(node, ast.Return) else None
            for place, scheduler, where in _returned(value, function, project) if value is not None else ():
                counted = _counted(scheduler, where, project)
                if counted is not None:
                    yield violation(
                        file,
                        place,
                        f"{ast.unparse(counted[0])[:_MOST]} counts steps, and Lightning steps a scheduler once an "
                        "epoch where no interval is given: the learning rate hardly ever changes",
                        '{"scheduler": scheduler, "interval": "step"}',
                        steps=(step(project.file_with(where), scheduler, "made for a number of steps"),),
                        confidence=Confidence.LIKELY,
                    )


def _is_by_hand(kind: ast.ClassDef) -> bool:
    """Whether a class may say otherwise how often a scheduler is stepped."""
    for one in walk(kind):
        name = one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") or getattr(one, "name", "")
        if name in _BY_HAND or (isinstance(one, ast.Constant) and one.value == "interval"):
            return True
        if isinstance(one, ast.keyword) and one.arg == "interval":
            return True
        if isinstance(one, ast.Call) and last_name(one.func) == "step" and "sched" in ast.unparse(one.func):
            return True
    return any(_may_step(one, kind) for one in walk(kind) if isinstance(one, ast.Call))


def _may_step(call: ast.Call, kind: ast.ClassDef) -> bool:
    """Whether a call of a class that asks for its schedules steps one of them, or hands them on to who may."""
    if last_name(call.func) == "step" and isinstance(call.func, ast.Attribute):
        asks = any(isinstance(one, ast.Attribute) and one.attr == _HELD for one in walk(kind))
        return asks and "opt" not in ast.unparse(call.func.value)
    given = (*call.args, *(one.value for one in call.keywords))
    return any(isinstance(one, ast.Call) and last_name(one.func) == _HELD for one in given)


def _returned(value: ast.expr, function: Function, project: Project) -> Iterator[tuple[ast.expr, ast.Call, Function]]:
    """Yields (what Lightning is given, the scheduler in it, where that is made) of what a return gives."""
    given: list[ast.expr] = []
    for one, where in origins(value, function, project):
        if where is not function:
            continue
        if isinstance(one, ast.Tuple) and len(one.elts) == 2 and isinstance(one.elts[1], (ast.List, ast.Tuple)):
            given += one.elts[1].elts
        elif isinstance(one, ast.Dict):
            given += [held for key, held in zip(one.keys, one.values, strict=True) if _is_key(key)]
    for one in given:
        yield from ((one, made, where) for made, where in _made(one, function, project, _DEPTH))


def _is_key(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value in _KEPT


def _made(value: ast.expr, function: Function, project: Project, depth: int) -> Iterator[tuple[ast.Call, Function]]:
    """Yields the calls that make a scheduler, also one that is held in a dict."""
    for one, where in origins(value, function, project) if depth else ():
        if isinstance(one, ast.Dict):
            if None in one.keys:
                continue  # `**settings` may hold the interval
            for key, held in zip(one.keys, one.values, strict=True):
                if _is_key(key):
                    yield from _made(held, where, project, depth - 1)
        elif isinstance(one, ast.Call):
            yield one, where


def _counted(made: ast.Call, function: Function, project: Project) -> Origin | None:
    """Returns what says that a scheduler counts steps."""
    if any(isinstance(one, ast.Constant) and one.value == "constant" for one in walk(made)):
        return None  # transformers' and diffusers' get_scheduler: it looks at no number
    for value in (*made.args[1:], *(one.value for one in made.keywords if one.arg != "optimizer")):
        for target in project.meant(value, function, _DEPTH) if isinstance(value, (ast.Name, ast.Attribute)) else ():
            found = _read(target, project)
            if found is not None:
                return found
        if isinstance(value, ast.Lambda) and id(value) in project.by_syntax:
            found = _read(project.by_syntax[id(value)], project)
        else:
            found = _steps(value, function, project)
        if found is not None:
            return found
    return None


def _read(schedule: Function, project: Project) -> Origin | None:
    """Returns the number of steps that a schedule's function goes by."""
    for node in schedule.own_nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found = None if getattr(node, "id", "") in schedule.parameters else _steps(node, schedule, project)
            if found is not None:
                return found
    return None


def _steps(value: ast.expr, function: Function, project: Project) -> Origin | None:
    """Returns the part of a number that counts steps: by its name, or as the length of a loader."""
    for one, where in ((value, function), *origins(value, function, project)):
        if any(isinstance(each, ast.BinOp) and isinstance(each.op, (ast.Div, ast.FloorDiv)) for each in walk(one)):
            return None  # steps by the steps of an epoch are epochs
        for each in walk(one):
            name = last_name(each) if isinstance(each, (ast.Name, ast.Attribute)) else ""
            length = isinstance(each, ast.Call) and last_name(each.func) == "len" and "loader" in ast.unparse(each)
            if (length or _STEPS.search(name)) and isinstance(each, ast.expr):
                return each, where
    return None

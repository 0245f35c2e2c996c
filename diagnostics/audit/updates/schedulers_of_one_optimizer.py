"""Two schedulers are made for one of two optimizers, and the other one has none.

What it does: flags a second scheduler of the same kind for one optimizer in a function that has another optimizer, for
which no scheduler is made anywhere.

Why it matters: the rate of the first optimizer falls twice at each milestone, and that of the other never. Two networks
that train against each other lose their balance, and both print their losses as ever.

Bad:

    g_scheduler = MultiStepLR(g_optimizer, milestones)
    d_scheduler = MultiStepLR(g_optimizer, milestones)

Good:

    g_scheduler = MultiStepLR(g_optimizer, milestones)
    d_scheduler = MultiStepLR(d_optimizer, milestones)

What it cannot see: schedulers of a project's own kind. Those that SequentialLR or ChainedScheduler put together are
meant for one optimizer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A121"
NAME = "schedulers-of-one-optimizer"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-schedule"
WORDS = ("lr_scheduler", "transformers")
CHECKLIST = "each optimizer has a scheduler of its own"
_SCHEDULER = re.compile(r"torch\.optim\.lr_scheduler\.\w+|transformers\.(?:.{0,80}\.)?get_\w+")
_TOGETHER = frozenset(["SequentialLR", "ChainedScheduler"])
_OPTIMIZER = re.compile(r"Adam|SGD|Lion|LAMB|Lamb|Adagrad|RMSprop|Adafactor|Adadelta|Muon")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the schedulers that have the wrong optimizer."""
    for function in () if file.is_test else project.functions_in(file):
        made = [(target, value) for target, value in _assigned(function) if _scheduled(value, function, project)]
        if len(made) < 2 or any(
            last_name(one.func) in _TOGETHER for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)
        ):
            continue
        scheduled = {ast.unparse(value.args[0]) for _, value in made if value.args}
        for at, (target, value) in enumerate(made):
            twin = next((one for one in made[:at] if one[0] != target and _is_same(one[1], value)), None)
            other = _other(value, function, scheduled, project) if twin is not None else ""
            if twin is not None and other:
                wanted = ast.unparse(value.args[0])
                yield violation(
                    file,
                    value,
                    f"{target} is a second scheduler for {wanted}, as {twin[0]} is; {other} has none: its rate never "
                    f"changes, and that of {wanted} changes twice",
                    f"{last_name(value.func)}({other}, ...)",
                    steps=(step(file, twin[1], f"the first scheduler for {wanted}"),),
                    confidence=Confidence.LIKELY,
                )
                break


def _assigned(function: Function) -> Iterator[tuple[str, ast.Call]]:
    for node in function.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            yield ast.unparse(node.targets[0]), node.value


def _scheduled(value: ast.Call, function: Function, project: Project) -> bool:
    return bool(value.args) and _SCHEDULER.fullmatch(project.name(value.func, function)) is not None


def _is_same(one: ast.Call, other: ast.Call) -> bool:
    return ast.unparse(one.func) == ast.unparse(other.func) and ast.unparse(one.args[0]) == ast.unparse(other.args[0])


def _other(value: ast.Call, function: Function, scheduled: set[str], project: Project) -> str:
    """Returns the name of an optimizer at hand for which the project makes no scheduler."""
    wanted = value.args[0]
    names: list[ast.expr] = [
        target for node in function.nodes_of(ast.Assign) if isinstance(node, ast.Assign) for target in node.targets
    ]
    if isinstance(wanted, ast.Name) and wanted.id in function.parameters:
        return next((one for one in function.parameters if one not in scheduled and _is_given(one, function, project)
                     and not _is_used(one, function)), "")  # fmt: skip
    for one in names:
        text = ast.unparse(one)
        if text in scheduled or not isinstance(one, (ast.Name, ast.Attribute)):
            continue
        held = [node.value for node in function.nodes_of(ast.Assign)
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == text]  # fmt: skip
        if all(_is_optimizer(each, function, project) for each in held) and not _is_scheduled(text, project):
            return text
    return ""


def _is_given(name: str, function: Function, project: Project) -> bool:
    """Whether a parameter is an optimizer: callers give one for it, or nothing else is told and it is called so."""
    given = list(project.arguments(name, function))
    if re.search(r"optim|^opt|opt$", name):
        return True
    return bool(given) and all(
        _is_optimizer(made, each, project) for value, where in given for made, each in origins(value, where, project)
    )


def _is_used(name: str, function: Function) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in function.nodes_of(ast.Name))


def _is_optimizer(value: ast.expr, function: Function, project: Project) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = project.name(value.func, function) or last_name(value.func)
    return _OPTIMIZER.search(name.rpartition(".")[2]) is not None


def _is_scheduled(text: str, project: Project) -> bool:
    """Whether a scheduler of any name is given an optimizer of this name elsewhere."""
    name = text.rpartition(".")[2]
    return any(
        last_name(one) == name
        for function in project.functions
        for call in function.nodes_of(ast.Call)
        if isinstance(call, ast.Call) and re.search(r"sched|LR\b|warm", ast.unparse(call.func), re.IGNORECASE)
        for one in [*call.args, *(each.value for each in call.keywords)]
    )

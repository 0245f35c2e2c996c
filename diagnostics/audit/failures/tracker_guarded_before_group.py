"""A tracker is guarded by the process group before there is one.

What it does: flags wandb.init, SummaryWriter and the like under a condition that asks dist.is_initialized(), or under a
rank function that answers 0 where there is no group, in a line before init_process_group.

Why it matters: before the group is made, every rank is told that it is alone: the guard that should leave one rank lets
all of them through.

Bad:

    if not dist.is_initialized() or dist.get_rank() == 0:
        wandb.init(project="p")
    dist.init_process_group("nccl")

Good:

    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        wandb.init(project="p")

What it cannot see: orders that only the configuration decides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code import experiment_trackers
from diagnostics.static.torch_code.training_functions import INIT, TrainingFunctions

CODE = "A507"
NAME = "tracker-guarded-before-group"
SEVERITY = Severity.WARNING
WORDS = experiment_trackers.WORDS
_ASKS = "torch.distributed.is_initialized"
_VARIABLE = re.compile(r"RANK$|PROCID$|LOCALID$")
_DEPTH = 2


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the trackers whose guard is asked before the process group is made."""
    for call, function, name in experiment_trackers.tracker_calls(file, project):
        asked = _asks_for_group(call, function, project)
        if asked is None:
            continue
        for node, where in [(call, function), *_calling(function, project)]:
            later = _set_up_later(node, where, project)
            if later is not None:
                yield _hit(file, project, call, name, asked, (later, where))
                break


def _hit(
    file: ProjectFile,
    project: Project,
    call: ast.Call,
    name: str,
    asked: ast.AST,
    later: tuple[ast.Call, Function],
) -> Violation:
    return violation(
        file,
        call,
        f"the guard of {name} asks for the process group before init_process_group: it cannot tell the ranks apart, "
        "and all of them pass it, or none",
        "call init_process_group first, or ask the launcher's variable: int(os.environ['RANK']) == 0",
        steps=(
            step(file, asked, "no group yet: the same answer on every rank"),
            step(file, call, f"{name} behind it"),
            step(project.file_with(later[1]), later[0], "only here the process group is made"),
        ),
        confidence=Confidence.CONFIRMED,
    )


def _calling(function: Function, project: Project) -> list[tuple[ast.Call, Function]]:
    callers = project.callers(function) if function.name != "<module>" else []
    return callers if len(callers) == 1 else []


def _asks_for_group(call: ast.Call, function: Function, project: Project) -> ast.AST | None:
    """Returns the condition on a call that asks whether there is a group and lets all ranks through without one."""
    for test in conditions(call, function, project.file_with(function)):
        if _reads_launcher(walk(test)):
            continue
        meant = [test, *(_only_value(one, function) for one in walk(test) if isinstance(one, ast.Name))]
        if any(_reads_launcher(walk(one)) for one in meant):
            continue
        for node in (node for one in meant for node in walk(one)):
            if isinstance(node, ast.Call) and _asks(node, function, project, _DEPTH):
                return test
    return None


def _only_value(name: ast.Name, function: Function) -> ast.expr:
    """Returns what a name is assigned, where that is done once."""
    values = function.assigned.get(name.id, [])
    return values[0] if len(values) == 1 else name


def _asks(call: ast.Call, function: Function, project: Project, depth: int) -> bool:
    if project.name(call.func, function) == _ASKS:
        return True
    return depth > 0 and any(
        isinstance(node, ast.Call) and _asks(node, target, project, depth - 1)
        for target in project.targets(call, function)
        if not _reads_launcher(target.own_nodes)
        for node in target.own_nodes
    )


def _reads_launcher(nodes: Iterable[ast.AST]) -> bool:
    """Whether the launcher's variables are read, which tell ranks apart at any time."""
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and _VARIABLE.search(one.value) for one in nodes
    )


def _set_up_later(node: ast.AST, function: Function, project: Project) -> ast.Call | None:
    """Returns the call after a node of a function that makes the process group, None where one comes before it."""
    makes = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and _makes(one, function, project)]
    line = getattr(node, "lineno", 0)
    if any(one.lineno < line for one in makes):
        return None
    return next((one for one in makes if one.lineno > line), None)


def _makes(call: ast.Call, function: Function, project: Project) -> bool:
    if project.name(call.func, function) == INIT:
        return True
    return any(id(one) in project.fact(TrainingFunctions).setting_up for one in project.targets(call, function))

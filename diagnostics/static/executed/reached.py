"""Whether the programs, when they are run, come to a call by the calls that lead to it. Pure.

Reading follows calls whatever they are given: `evaluate(model, distributed=False)` seems to come to the reduction that
stands under `if self.distributed`. A run knows what the flag is.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import chain as joined_up
from typing import TypeAlias

from diagnostics.static.execution.events import Entered, Event, Execution
from diagnostics.static.execution.library import WRAPPERS
from diagnostics.static.execution.traces import executions, uncalled_executions
from diagnostics.static.execution.values import Instance, Made, Value, sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

CallChain: TypeAlias = Sequence[tuple[ast.AST, Function]]  # each call is in its function, and enters that of the next
_DECIDES = (ast.If, ast.IfExp, ast.BoolOp, ast.While, ast.For, ast.Match)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def is_left_out(calls: CallChain, project: Project) -> bool:
    """Whether runs go the whole way to the function of the last call and never make it: a flag decides against it."""
    if not any(_is_conditional(call, function, project) for call, function in calls):
        return False
    entered = False
    for run in joined_up(executions(project), filter(_is_whole_program, uncalled_executions(project))):
        if any(one.node is calls[-1][0] and _ends_with(one.frames, calls) for one in run.events):
            return False
        if _comes_near(run, calls):
            if not run.whole:
                return False
            entered = True
    return entered


def is_of_bare_model(backward: ast.AST, project: Project) -> bool:
    """Whether runs come to a backward pass, each time of what a model of the project gave that nothing has wrapped."""
    runs = (*executions(project), *filter(_is_whole_program, uncalled_executions(project)))
    passes = [one for run in runs for one in run.events if one.node is backward and one.name == ".backward"]
    return bool(passes) and all(_is_bare(one) for one in passes)


def _is_bare(backward: Event) -> bool:
    gave = [one.owner for one in sources(backward.owner) if isinstance(one, Made) and one.name == "()"]
    return bool(gave) and all(isinstance(one, Instance) or _is_layer(one) for one in gave)


def _is_layer(model: Value | None) -> bool:
    if isinstance(model, Made) and model.name == "copy.deepcopy":
        return isinstance(model.args[0], Instance) or _is_layer(model.args[0])
    return isinstance(model, Made) and model.name.startswith("torch.nn.") and model.name not in WRAPPERS


def _is_whole_program(run: Execution) -> bool:
    """Whether what no script comes to is a function that was run: objects of a method's run are as they were made."""
    return bool(run.entered) and run.entered[0][0].function.owner is None


def _comes_near(run: Execution, calls: CallChain) -> bool:
    return any(_ends_with(frames, calls) for frames in run.entered)


def _ends_with(frames: Sequence[Entered], calls: CallChain) -> bool:
    """Whether the functions that are open were entered by these calls, the last of which is not made yet."""
    inner = calls[1:]
    if not frames or len(frames) < len(inner) or frames[-1].function is not calls[-1][1]:
        return False
    return all(
        frame.call is call and frame.function is function
        for frame, (call, _), (_, function) in zip(frames[len(frames) - len(inner) :], calls[:-1], inner, strict=True)
    )


def _is_conditional(call: ast.AST, function: Function, project: Project) -> bool:
    """Whether something in its function decides whether a call is made: a test around it, a way out before it."""
    parents = project.file_with(function).parents
    around = parents.get(call)
    while around is not None and around is not function.syntax:
        if isinstance(around, _DECIDES):
            return True
        around = parents.get(around)
    line = getattr(call, "lineno", 0)
    return any(isinstance(one, _LEAVES) and one.lineno < line for one in walk(function.syntax))

"""A validation or a save puts the average of the weights into the model and does not take it out again.

What it does: flags `store()` followed by `copy_to()`, and `apply_shadow()` of a class that has a way back, where
nothing in the project calls that way back (`restore()` and the like) and training goes on in the loop around it; and
`copy_to()` or `model.load_state_dict(ema.state_dict())` for an evaluation or a checkpoint of the model that is trained,
where nothing was kept of its weights.

Why it matters: the weights that were being trained are thrown away at each validation and replaced by an average that
lags behind; the optimizer's moments belong to others. The loss falls for a while and is set back again and again.

Bad:

    def validate(model, ema):
        ema.store(model.parameters())
        ema.copy_to(model.parameters())
        return evaluate(model)

Good:

    def validate(model, ema):
        ema.store(model.parameters())
        ema.copy_to(model.parameters())
        try:
            return evaluate(model)
        finally:
            ema.restore(model.parameters())

What it cannot see: a way back by another name, or by load_state_dict() of a copy that the program made itself; where
either is there at all, it says nothing. An average that is put in when the training is over is meant to stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.models.average_put_in import BACK, KEEPS, SWAPS, has_way_back, written_over
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A330"
NAME = "average-left-in-model"
SEVERITY = Severity.WARNING
RUN_CLASS = "state-not-kept"
WORDS = ("copy_to", *SWAPS, "load_state_dict")
CHECKLIST = "an average that was put into the model for a validation is taken out again"
_DEPTH = 2


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the averages that stay."""
    goes_back = any(name in project.calls_by_name for name in BACK[:-1])
    for function in () if file.is_test else project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            if not isinstance(call, ast.Call):
                continue
            if not goes_back and _puts_in(call, function, project) and not _loads(function):
                around, fix = _trains_on(call, function, project, _DEPTH), "put the stored weights back"
            else:
                around, fix = written_over(call, function, project), "store the weights before, and put them back"
            if around is not None:
                yield violation(
                    file,
                    call,
                    f"`{ast.unparse(call)[:60]}` puts the average into the model, and nothing takes it out again: the "
                    "training goes on from the average, and the weights that it had come to are lost",
                    f"{fix} behind the validation or the save, in a `finally`: ema.restore(...)",
                    steps=(step(project.file_with(around[1]), around[0], "the training goes on around this call"),),
                    confidence=Confidence.LIKELY,
                )


def _puts_in(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call puts an average into a model in such a way that it is meant to be undone."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in WORDS[:-1]:
        return False
    if call.func.attr != "copy_to":
        return has_way_back(call, function, project)
    receiver = ast.unparse(call.func.value)
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in KEEPS
        and ast.unparse(one.func.value) == receiver
        and one.lineno <= call.lineno
        for one in function.nodes_of(ast.Call)
    )


def _loads(function: Function) -> bool:
    """Whether a function loads a state itself, which may be the one from before."""
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == BACK[-1]
        for one in function.nodes_of(ast.Call)
    )


def _trains_on(call: ast.Call, function: Function, project: Project, depth: int) -> tuple[ast.Call, Function] | None:
    """Returns the call in a loop that trains, too, by which a function comes to be run."""
    training = project.fact(TrainingFunctions)
    loop = innermost_loop(call, function, project.file_with(function))
    while loop is not None:
        if training.training_call(loop.body, function) is not None:
            return call, function
        loop = innermost_loop(loop, function, project.file_with(function))
    for outer, caller in project.callers(function) if depth and function.name != "<module>" else ():
        if (found := _trains_on(outer, caller, project, depth - 1)) is not None:
            return found
    return None

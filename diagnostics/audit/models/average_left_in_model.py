"""A validation puts the average of the weights into the model and does not take it out again.

What it does: flags `store()` followed by `copy_to()`, and `apply_shadow()` of a class that has a way back, where
nothing in the project calls that way back (`restore()` and the like) and training goes on in the loop around it.

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
WORDS = ("copy_to", "apply_shadow", "apply_average", "swap_in")
CHECKLIST = "an average that was put into the model for a validation is taken out again"
_KEEPS = ("store", "backup", "save")  # what copy_to() would put an end to
_BACK = (
    "restore", "restore_original", "restore_weights", "swap_out", "unapply", "put_back", "swap",
    "average_parameters", "load_state_dict",
)  # fmt: skip
_DEPTH = 2


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the averages that stay."""
    if file.is_test or any(name in project.calls_by_name for name in _BACK[:-1]):
        return
    for function in project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            if not isinstance(call, ast.Call) or not _puts_in(call, function, project) or _loads(function):
                continue
            around = _trains_on(call, function, project, _DEPTH)
            if around is not None:
                yield violation(
                    file,
                    call,
                    f"`{ast.unparse(call)[:60]}` puts the average into the model, and nothing takes it out again: the "
                    "training goes on from the average, and the weights that it had come to are lost",
                    "put the stored weights back behind the validation, in a `finally`: ema.restore(...)",
                    steps=(step(project.file_with(around[1]), around[0], "the training goes on around this call"),),
                    confidence=Confidence.LIKELY,
                )


def _puts_in(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call puts an average into a model in such a way that it is meant to be undone."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in WORDS:
        return False
    if call.func.attr != "copy_to":
        return _has_way_back(call, function, project)
    receiver = ast.unparse(call.func.value)
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in _KEEPS
        and ast.unparse(one.func.value) == receiver
        and one.lineno <= call.lineno
        for one in function.nodes_of(ast.Call)
    )


def _has_way_back(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether the class of what is called defines a method that undoes it."""
    for one in project.targets(call, function):
        outer = project.file_with(one).parents.get(one.syntax)
        if isinstance(outer, ast.ClassDef) and any(getattr(each, "name", "") in _BACK[:-1] for each in outer.body):
            return True
    return False


def _loads(function: Function) -> bool:
    """Whether a function loads a state itself, which may be the one from before."""
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == _BACK[-1]
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

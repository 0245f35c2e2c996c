"""A `return`, `break` or `continue` in the `finally` around a training throws its exception away.

What it does: flags these statements in the `finally` of a `try` that trains, where no handler of it has already dealt
with every error.

Why it matters: they replace the exception that is on its way, whatever it is: a CUDA error, a full disk, Ctrl-C, the
SystemExit of a time limit. The function comes back as after a training that went well, half a result is written, and
the process ends with code 0.

Bad:

    try:
        train(model)
    finally:
        write(result)
        return result

Good:

    try:
        train(model)
    finally:
        write(result)
    return result

What it cannot see: trainings that a library starts under a name of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.exception_flow import is_broad, leads_on, tries_of
from diagnostics.static.program.own_nodes import Callable_
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions

CODE = "A515"
NAME = "return-in-finally"
SEVERITY = Severity.ERROR
WORDS = ("finally",)
CHECKLIST = "no `finally` around a training ends its exception"
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (*Callable_.__args__, ast.ClassDef)
_NAMES = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the leaps out of a `finally` behind which a failed training looks like a good one."""
    if file.is_test:
        return
    for function in project.functions_in(file):
        for block in tries_of(function):
            leap = next(_leaps(block.finalbody), None) if block.finalbody else None
            if leap is None or any(is_broad(one) and not leads_on(one.body) for one in block.handlers):
                continue
            trained = project.fact(TrainingFunctions).training_call([*block.body, *block.orelse], function)
            if trained is not None:
                name = _NAMES[type(leap)]
                yield violation(
                    file,
                    leap,
                    f"`{name}` in `finally` throws away whatever the training raised, Ctrl-C included: it goes on as "
                    "after one that went well",
                    f"put `{name}` behind the try statement",
                    steps=(
                        step(file, trained, "an exception here ..."),
                        step(file, leap, f"... is replaced by `{name}`"),
                    ),
                    confidence=Confidence.CONFIRMED if leap in block.finalbody else Confidence.LIKELY,
                )


def _leaps(statements: list[ast.stmt], *, in_loop: bool = False) -> Iterator[ast.stmt]:
    """Yields what leaves a block: `break` and `continue` only of loops around it."""
    for one in statements:
        if isinstance(one, ast.Return) or (isinstance(one, (ast.Break, ast.Continue)) and not in_loop):
            yield one
        elif not isinstance(one, _SCOPES):
            inner = [each for each in children(one) if isinstance(each, ast.stmt)]
            inner += [each for handler in getattr(one, "handlers", ()) for each in handler.body]
            yield from _leaps(inner, in_loop=in_loop or isinstance(one, _LOOPS))

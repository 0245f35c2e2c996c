"""A process leaves with code 0 after an exception.

What it does: flags sys.exit(0), exit() and os._exit(0) in a `finally` block, and in a handler that catches every error;
and os._exit with any code in what a data set runs, in the DataLoader's workers.

Why it matters: the launcher, the scheduler and the next stage of the pipeline ask the exit code and nothing else. A
`finally` that leaves throws the exception away before its traceback is printed; os._exit also throws away what print
and loggers still hold. The job counts as trained, and its peers wait for a rank that is gone. A data worker that leaves
by os._exit takes its traceback with it: the rank only hears that a worker exited unexpectedly.

Bad:

    try:
        train()
    finally:
        os._exit(0)

Good:

    try:
        train()
    finally:
        writer.close()

What it cannot see: exit codes that are computed, and exits inside functions that a handler calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.program.exception_flow import (
    exits_with_success,
    head,
    is_whole,
    leads_on,
    tries_of,
    unconditional_calls,
)
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions, own_calls

CODE = "A501"
NAME = "exit-hides-failure"
SEVERITY = Severity.ERROR
WORDS = ("exit", "_exit", "quit", "SystemExit")
CHECKLIST = "a failed run ends with another exit code than 0"
_DEPTH = 4  # calls between __getitem__ and the exit
_FIX = "let the exception pass, or leave with another code: raise, or sys.exit(1)"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the exits with code 0 that an exception comes to."""
    for function in project.functions_in(file):
        for block in tries_of(function):
            yield from _in_finally(file, project, function, block)
            yield from _in_handlers(file, project, function, block)
    for call, function in project.calls_in(file):
        if project.name(call.func, function) == "os._exit" and not _forks(function):
            yield from _in_data_set(file, project, call, function)


def _in_finally(file: ProjectFile, project: Project, function: Function, block: ast.Try) -> Iterator[Violation]:
    for call in unconditional_calls(block.finalbody):
        if exits_with_success(call, function, project):
            name = project.name(call.func, function)
            trained = project.fact(TrainingFunctions).training_call(block.body, function)
            yield violation(
                file,
                call,
                f"{name}(0) in `finally` runs after every exception of the block above and ends the process with "
                "success: the error is neither shown nor counted",
                _FIX,
                steps=(
                    step(file, trained or block.body[0], "an exception here ..."),
                    step(file, call, f"... comes to {name}(0), which replaces it"),
                ),
                confidence=_sure(file, function, block, trained, name),
            )


def _in_handlers(file: ProjectFile, project: Project, function: Function, block: ast.Try) -> Iterator[Violation]:
    for handler in block.handlers:
        if not is_whole(handler) or leads_on(handler.body):
            continue
        for call in unconditional_calls(handler.body):
            if exits_with_success(call, function, project):
                name = project.name(call.func, function)
                trained = project.fact(TrainingFunctions).training_call(block.body, function)
                yield violation(
                    file,
                    call,
                    f"{ast.unparse(call)} in `{head(handler)}` ends the process with success "
                    f"after any error{' of the training' if trained is not None else ''}",
                    _FIX,
                    steps=(
                        step(file, trained or block.body[0], "an error here ..."),
                        step(file, handler, "... is caught, whatever it is ..."),
                        step(file, call, "... and the process ends with code 0"),
                    ),
                    confidence=_sure(file, function, block, trained, name),
                )


def _sure(file: ProjectFile, function: Function, block: ast.Try, trained: ast.Call | None, name: str) -> Confidence:
    if trained is not None and not _in_forked_child(block, function, file):
        return Confidence.CONFIRMED
    imports = all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in block.body)
    if imports or _in_forked_child(block, function, file) or not any(own_calls(block.body)):
        return Confidence.POSSIBLE
    about_training = bool(file.words & {"torch", "tensorflow", "jax"})
    return Confidence.LIKELY if about_training or name == "os._exit" else Confidence.POSSIBLE


def _in_data_set(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> Iterator[Violation]:
    used = _item_reading(function, project, _DEPTH)
    if used is not None:
        yield violation(
            file,
            call,
            f"os._exit in what {used.name} runs ends a data worker without a traceback: the rank only hears that a "
            "worker exited unexpectedly",
            "raise an exception: DataLoader hands it over to the rank, with the traceback",
            steps=(
                step(project.file_with(used), used.syntax, "runs in the DataLoader's workers"),
                step(file, call, "ends the worker at once"),
            ),
            confidence=Confidence.LIKELY,
        )


def _item_reading(function: Function, project: Project, depth: int) -> Function | None:
    """Returns the method of a data set that a function is, or that runs it."""
    if function.owner is not None and function.name.rpartition(".")[2] == "__getitem__":
        return function
    if depth <= 0 or function.name == "<module>":
        return None
    above = (_item_reading(caller, project, depth - 1) for _, caller in project.callers(function))
    return next((one for one in above if one is not None), None)


def _forks(function: Function) -> bool:
    return any(
        isinstance(one, ast.Attribute) and one.attr in ("fork", "forkpty") for one in function.nodes_of(ast.Attribute)
    )


def _in_forked_child(node: ast.AST, function: Function, file: ProjectFile) -> bool:
    return _forks(function) and any(True for _ in conditions(node, function, file))

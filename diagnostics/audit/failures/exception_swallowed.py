"""An exception around training is swallowed.

What it does: flags handlers that catch every error around training steps, whole trainings or the set-up of the process
group, say at most a word about it, and go on.

Why it matters: in a step of a distributed training, the rank that swallowed the error skips the collectives that the
others wait in: the job hangs, or adds gradients of different steps, and nothing tells why. Around a whole training, the
process ends with code 0 and the failed run counts as trained. Around init_process_group, each process goes on alone.

Bad:

    for batch in loader:
        try:
            train_step(batch)
        except Exception as error:
            log.warning("step failed: %s", error)

Good:

    for batch in loader:
        train_step(batch)

What it cannot see: handlers that repair what went wrong (they are left alone), and errors that library code swallows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import enclosing
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import head, is_broad, swallows, tries_of
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures, is_main_guard, is_script
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.static_divergence import StaticDivergence
from diagnostics.static.torch_code.training_functions import INIT, WRAPPERS, TrainingFunctions, own_calls

CODE = "A502"
NAME = "exception-swallowed"
SEVERITY = Severity.ERROR
WORDS = ("except",)
CHECKLIST = "no error of a training step is swallowed"
_FIX = "catch only what you can repair, and let everything else end the process: raise"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the handlers that swallow an error of the training."""
    for function in project.functions_in(file):
        for block in tries_of(function):
            handler = next((one for one in block.handlers if is_broad(one)), None)
            if handler is not None and swallows(handler) and not (_is_wanted(block, file) or _is_derivative(function)):
                yield from _swallowed(file, project, function, block, handler)


def _is_derivative(function: Function) -> bool:
    """Whether a function is a part of a torch.autograd.Function: it differentiates for a term of one gradient."""
    bases = function.owner.bases if function.owner is not None else ()
    return function.name.rpartition(".")[2] in ("forward", "backward") and any(
        ast.unparse(one).endswith("Function") for one in bases
    )


def _is_wanted(block: ast.Try, file: ProjectFile) -> bool:
    """Whether the error is what a test waits for: `assert False` stands behind the try."""
    around = getattr(file.parents.get(block), "body", [])
    behind = around[around.index(block) + 1 :][:1] if isinstance(around, list) and block in around else []
    wanted = [one.test for one in behind if isinstance(one, ast.Assert)]
    return any(isinstance(one, ast.Constant) and not one.value for one in wanted)


def _swallowed(
    file: ProjectFile, project: Project, function: Function, block: ast.Try, handler: ast.ExceptHandler
) -> Iterator[Violation]:
    trained = project.fact(TrainingFunctions).training_call(block.body, function)
    caught = head(handler)
    if trained is not None:
        loop = enclosing(block, (ast.For, ast.While, ast.AsyncFor), file)
        if loop is not None and _parts_ranks(file, project, handler):
            return
        title, confidence = _of_training(file, project, function, block, caught, loop)
        yield violation(
            file,
            handler,
            title,
            _FIX,
            steps=(
                step(file, trained, f"{_short(trained)} trains; an error in it ..."),
                step(file, handler, f"... ends in `{caught}`, which does nothing about it"),
            ),
            confidence=Confidence.POSSIBLE if _answers(handler, function) else confidence,
        )
        return
    for call in own_calls(block.body):
        if project.name(call.func, function) == INIT:
            yield violation(
                file,
                handler,
                f"`{caught}` swallows whatever init_process_group raises: the process goes on without a group, "
                "each one by itself",
                _FIX,
                steps=(
                    step(file, call, "set-up of the process group"),
                    step(file, handler, "any error of it ends here"),
                ),
                confidence=Confidence.LIKELY if handler.type is None or is_script(file) else Confidence.POSSIBLE,
            )


def _parts_ranks(file: ProjectFile, project: Project, handler: ast.ExceptHandler) -> bool:
    """Whether the rules about collectives say what comes of a handler in a step."""
    if next(project.fact(ImportClosures).calls(file.shown, INIT, *WRAPPERS), None) is None:
        return False
    return any(one.decision is handler for one in project.fact(StaticDivergence).partings(file.shown))


def _of_training(
    file: ProjectFile, project: Project, function: Function, block: ast.Try, caught: str, loop: ast.AST | None
) -> tuple[str, Confidence]:
    calls = project.calls_by_canonical
    around = project.fact(ImportClosures).around(file.shown)
    distributed = any(where.file in around for name in (INIT, *WRAPPERS) for _, where in calls.get(name, ()))
    if loop is not None and distributed:
        return (
            f"`{caught}` swallows the error of a training step and goes on with the next one: this rank skips "
            "collectives that the others wait in",
            Confidence.LIKELY,
        )
    if loop is not None:
        return f"`{caught}` swallows the error of a training step and goes on with the next one", Confidence.LIKELY
    title = f"`{caught}` swallows the error of a training: the process ends with code 0"
    return title, Confidence.CONFIRMED if _is_last(function, block) else Confidence.LIKELY


def _answers(handler: ast.ExceptHandler, function: Function) -> bool:
    """Whether a handler leaves an answer that callers may look at: None from a function that returns values, a code."""
    returns = any(isinstance(one, ast.Return) for statement in handler.body for one in walk(statement))
    values = [one.value for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return)]
    if returns and any(not (value is None or _is_none(value)) for value in values):
        return True
    said = {
        target.id
        for statement in handler.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    given = [
        one.value for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return) and one.value is not None
    ]
    # What is looked at or handed on further down: `check_all_ranks(passed)`.
    later = [one for one in function.own_nodes if getattr(one, "lineno", 0) > (handler.end_lineno or 0)]
    given += [one.test for one in later if isinstance(one, (ast.If, ast.Assert))]
    given += [value for one in later if isinstance(one, ast.Call) for value in one.args]
    return any(isinstance(node, ast.Name) and node.id in said for one in given for node in walk(one))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_last(function: Function, block: ast.Try) -> bool:
    """Whether nothing but the end of the process comes after a try: it is the last statement of a script or main."""
    body = getattr(function.syntax, "body", [])
    if isinstance(function.syntax, ast.Module):
        guard = next((one for one in body if is_main_guard(one)), None)
        return bool(body) and (body[-1] is block or (guard is not None and guard.body[-1] is block))
    return function.name in ("main", "run", "worker", "train") and isinstance(body, list) and body[-1] is block


def _short(call: ast.Call) -> str:
    return f"{ast.unparse(call.func)}(...)"

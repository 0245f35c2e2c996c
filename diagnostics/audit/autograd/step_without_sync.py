"""The optimizer steps in a round whose gradients were kept local by no_sync().

What it does: works out, round by round, when a loop enters `no_sync()` and when it steps, and flags a loop that steps
in a round which it has not synchronised.

Why it matters: DDP averages gradients in the backward of a round without no_sync(), the one before the step. Where the
two tests are off by one (`i % n` here, `(i + 1) % n` there), the last micro-batches stay on their rank: each rank steps
with gradients of its own, the models drift apart, and nothing fails.

Bad:

    with model.no_sync() if i % n != 0 else nullcontext():
        loss(model(x)).backward()
    if (i + 1) % n == 0:
        optimizer.step()

Good:

    with model.no_sync() if (i + 1) % n != 0 else nullcontext():
        loss(model(x)).backward()
    if (i + 1) % n == 0:
        optimizer.step()

What it cannot see: counters that are not the loop's own, and steps in functions that the loop calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.rounds import steps_in_unsynchronised_rounds
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.gradient_accumulation import (
    entered_by,
    skips_stepping_round,
    steps_without_sync,
    unsynchronised_where_it_steps,
)

CODE = "A311"
NAME = "step-without-sync"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "gradients-not-synchronised", "ranks"
WORDS = ("no_sync", "backward")
_DEPTH = 4
CHECKLIST = "gradients are averaged in the round before the step"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests of no_sync() that do not fit the step."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for backward, stepped, test in steps_in_unsynchronised_rounds(execution):
        told = ast.unparse(test.test) if isinstance(test, (ast.If, ast.IfExp)) else "its test"
        holds = (one for one in project.python if "no_sync" in one.words and test in one.parents)
        place = next(holds, home(backward, project))  # what the `with` calls may stand elsewhere
        yield violation(
            place,
            test,
            f"a round in which the optimizer steps is one that `{told}` keeps under no_sync(): its gradients are never "
            "averaged, and the ranks drift apart",
            "synchronise in the round of the step",
            steps=(shown(backward, project, "backward() runs here, in some rounds under no_sync()"),
                   shown(stepped, project, "the optimizer steps here")),
            confidence=Confidence.LIKELY,
        )  # fmt: skip


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.With):
            if not isinstance(node, ast.With) or not any(_is_backward(one) for one in walk(node)):
                continue
            inside = steps_without_sync(node)
            if inside is not None and not _meets(node, function, project):
                yield violation(
                    file,
                    inside,
                    "the optimizer steps inside of no_sync(): no backward of this block is averaged, and the ranks "
                    "drift apart",
                    "leave no_sync() before the last backward of each step",
                    steps=(step(file, node, "gradients are kept to the rank from here on"),),
                    confidence=Confidence.LIKELY,
                )
                continue
            found = skips_stepping_round(node, function, project)
            entered = step(file, node, "backward() runs here, in some rounds under no_sync()")
            if found is not None:
                test, stepped = found
                if _meets(stepped, function, project):
                    continue  # which may average by hand
                made = function.assigned.get(test.id, ()) if isinstance(test, ast.Name) else ()
                test = made[0] if len(made) == 1 else test  # where it is worked out is where it is wrong
                home, place = _written(test, node, function, project)
                # Where the number of rounds is one, it does no harm.
                sure = Confidence.CONFIRMED if _is_known(test, function) else Confidence.LIKELY
                yield _never_averaged(home, place, test, stepped, (entered, _at(stepped, file)), sure)
                continue
            kept = unsynchronised_where_it_steps(node, function, project)
            if kept is not None:
                test, stepped, method = kept
                home = project.file_with(method)
                yield _never_averaged(home, test, test, stepped, (entered, _at(stepped, home)), Confidence.LIKELY)


def _never_averaged(
    file: ProjectFile,
    place: ast.AST,
    test: ast.expr,
    stepped: ast.If,
    steps: tuple[ExplanationStep, ...],
    sure: Confidence,
) -> Violation:
    return violation(
        file,
        place,
        f"the step under `{ast.unparse(stepped.test)}` comes in a round that `{ast.unparse(test)}` keeps under "
        "no_sync(): its gradients are never averaged, and the ranks drift apart",
        f"synchronise in the round of the step: no_sync() only where not ({ast.unparse(stepped.test)})",
        steps=steps,
        confidence=sure,
    )


def _at(stepped: ast.If, file: ProjectFile) -> ExplanationStep:
    return step(file, stepped, "the optimizer steps here")


def _written(test: ast.expr, node: ast.With, function: Function, project: Project) -> tuple[ProjectFile, ast.AST]:
    """Returns where a test stands: what the `with` calls was written out to find it, and `test` may be a copy."""
    given = [entered_by(item, function) for item in node.items]
    scopes: list[tuple[ast.AST, Function]] = [(one, function) for one in given]
    for _ in range(_DEPTH):
        for value, where in scopes:
            for one in walk(value):
                if type(one) is type(test) and _span(one) == _span(test):
                    return project.file_with(where), one
        called = [(one, where) for value, where in scopes for one in walk(value) if isinstance(one, ast.Call)]
        scopes = [
            (part, target)
            for one, where in called
            for target in project.targets(one, where)
            for part in target.nodes_of((ast.Return, ast.If))
        ]
    return project.file_with(function), test if any(one is test for one in function.own_nodes) else node


def _span(node: ast.AST) -> tuple[int, ...]:
    return tuple(getattr(node, name, 0) or 0 for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


def _is_known(test: ast.expr, function: Function) -> bool:
    """Whether every number in a test is written there, but for the one counter."""
    names = {node.id for node in walk(test) if isinstance(node, ast.Name)}
    known = {one for one in names if all(isinstance(v, ast.Constant) for v in function.assigned.get(one, ["?"]))}
    return len(names - known) <= 1 and not any(isinstance(node, ast.Attribute) for node in walk(test))


def _meets(block: ast.AST, function: Function, project: Project) -> bool:
    return any(isinstance(one, ast.Call) and project.communicates(one, function) for one in walk(block))


def _is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in ("backward", "manual_backward")

"""An exception that is caught on one rank makes it skip a collective, and it goes on as if nothing had been.

What it does: flags handlers that swallow an error of a block in which ranks meet (a backward of a wrapped model, an
all_reduce, a save by all) and go on, with no agreement after it; and those that give up a round of a loop, of errors
that the rank's own samples cause, where ranks meet further down in it.

Why it matters: the rank that failed is one operation behind the others from then on: they wait in the one it skipped,
it comes to the next. Gloo may even add the two together.

Bad:

    for batch in loader:
        try:
            train_step(model, batch)      # with loss.backward()
        except Exception:
            log.exception("skipped a batch")

Good:

    for batch in loader:
        train_step(model, batch)          # a bad batch ends the job, with its traceback

What it cannot see: whether the error can come on one rank alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.collectives.under_rank_test import raised_under_rank_test
from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.swallowed import swallowed, swallowed_on_leaving
from diagnostics.static.executed.training import operation as operation_of
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import CollectiveSites, SyncKind
from diagnostics.static.spmd.divergent_branch import DivergenceShape, DivergentBranch
from diagnostics.static.spmd.raised_on_one_rank import raised_on_one_rank, reads_own_file

CODE = "A208"
NAME = "exception-skips-collective"
SEVERITY = Severity.ERROR
WORDS = ("except", "__exit__")
CHECKLIST = "no rank swallows an error and goes on alone"
# Who comes to one of these says nothing by that.
_TELLS_NOTHING = {name for name in operations.CARRY_NOTHING if name.endswith("barrier")} | {"wait_for_everyone"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the handlers after which a rank is an operation behind."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in swallowed(execution):
        yield violation(
            project.file_with(one.attempt.function),
            one.handler,
            f"an exception caught here skips {operation_of(one.met) or 'the backward pass'} on this rank alone, and "
            "the rank goes on with the next round: the others wait for it",
            "let the error end the job, or agree on it with all ranks (all_reduce a flag) before anyone goes on",
            steps=(shown(one.met, project, "every rank has to come here"),),
            confidence=Confidence.LIKELY,
            severity=Severity.WARNING,  # an error of the program may come on all ranks
        )
    for given, context, met in swallowed_on_leaving(execution):
        yield violation(
            project.file_with(context.kind.module),
            given,
            f"what __exit__ gives back swallows an error of memory that one rank alone may have: "
            f"{operation_of(met) or 'the backward pass'} in the block is skipped, and the others wait for it",
            "let the error end the job, or agree on it with all ranks (all_reduce a flag) before anyone goes on",
            steps=(shown(met, project, "every rank has to come here"),),
            confidence=Confidence.LIKELY,
            severity=Severity.WARNING,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for one in partings(file, project, DivergenceShape.SKIPPED):
        handler = one.decision
        assert isinstance(handler, ast.ExceptHandler)  # noqa: S101 (the shape says so)
        yield hit_of(
            one, file, project,
            f"an exception caught here skips {operation(one.here)} on this rank alone, and the rank goes on: the "
            "others wait for it",
            "let the error end the job, or agree on it with all ranks (all_reduce a flag) before anyone goes on",
            sure=_certainty(one, file, project, handler),
        )  # fmt: skip


def _certainty(one: DivergentBranch, file: ProjectFile, project: Project, handler: ast.ExceptHandler) -> Confidence:
    """LIKELY for errors that come on one rank: of memory. Others may be of the program, and come on all."""
    if one.here.meeting is not SyncKind.FORWARD and raised_under_rank_test(one, project):
        return Confidence.POSSIBLE if _agrees_after(one, file, project, handler) else Confidence.LIKELY
    if (
        one.here.meeting is SyncKind.FORWARD
        or _agrees_after(one, file, project, handler)
        or not _in_loop(file, handler, one.function, project)
    ):
        return Confidence.POSSIBLE
    if raised_on_one_rank(handler, one.function, project) or reads_own_file(handler, one.function, project):
        return Confidence.LIKELY
    told = ast.unparse(handler).lower()
    of_memory = "outofmemory" in told or "out of memory" in told or "is_oom" in told or "memoryerror" in told
    return Confidence.LIKELY if of_memory else Confidence.POSSIBLE


def _agrees_after(one: DivergentBranch, file: ProjectFile, project: Project, handler: ast.ExceptHandler) -> bool:
    """Whether ranks meet in the statements behind the try, where they may tell each other."""
    attempt = file.parents[handler]
    around = file.parents.get(attempt)
    communication = project.fact(CollectiveSites)
    for block in (getattr(around, "body", []), getattr(around, "orelse", [])):
        if attempt in block:
            behind = block[block.index(attempt) + 1 :]
            calls = (node for statement in behind for node in walk(statement) if isinstance(node, ast.Call))
            met = (communication.of_call(call, one.function) for call in calls)
            return any(site is not None and site.op not in _TELLS_NOTHING for site in met)
    return False


def _in_loop(file: ProjectFile, node: ast.AST, function: Function, project: Project, depth: int = 3) -> bool:
    """Whether a statement runs again and again: in a loop of its function, or of one that calls it."""
    while node in file.parents:
        node = file.parents[node]
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
    callers = project.callers(function)[:4] if depth else []
    return any(
        _in_loop(project.file_with(caller), call, caller, project, depth - 1)
        for call, caller in callers
        if caller is not function
    )

"""The handle of an asynchronous operation is dropped: nothing can wait for it.

What it does: flags collectives with async_op=True, isend and irecv whose result is not kept, or is kept where
nothing in the program ever calls wait(); and `torch.distributed.checkpoint.async_save` whose future is dropped.

Why it matters: the call comes back at once, and the tensor is not exchanged yet. What reads or changes it next works
with its old or half-written values: gradients that are not averaged, a send buffer that is overwritten. It depends on
timing, and nothing fails. Of a checkpoint nobody hears that it could not be written, the next one overlaps it, and the
process group is destroyed while the last one is still on its way.

Bad:

    for p in model.parameters():
        dist.all_reduce(p.grad, async_op=True)
    optimizer.step()

Good:

    works = [dist.all_reduce(p.grad, async_op=True) for p in model.parameters()]
    for work in works:
        work.wait()
    optimizer.step()

What it cannot see: handles that are handed to a library, or to a caller.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.handles import overwritten_handles
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_call, operation_calls

CODE = "A218"
NAME = "work-never-waited-for"
SEVERITY = Severity.ERROR
_ALWAYS = tuple(name for name in operations.ALWAYS_ASYNC if name not in operations.BATCHES)
WORDS = ("async_op", "async_save", *_ALWAYS)
CHECKLIST = "asynchronous operations are waited for"
_CHECKPOINT = "torch.distributed.checkpoint."
_WAITING = frozenset(["wait", "wait_all", "waitall", "is_completed", "synchronize", "get_future", "wait_stream"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the operations that nothing can wait for."""
    yield from also([*_read(file, project), *_saved(file, project)], file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one, waited in overwritten_handles(execution):
        yield violation(
            home(one, project),
            one.node,
            "each round of the loop begins an exchange, and only the handle of the last one is waited for: the others "
            "may not be done yet",
            "keep the handles in a list, and wait for each",
            steps=(shown(waited, project, "the last one is waited for here"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    if file.is_test:
        return
    for one in operation_calls(file, project):
        if not _returns_at_once(one):
            continue
        dropped = isinstance(file.parents.get(one.call), ast.Expr)
        yield from _dropped_by_callers(one, file, project)
        if not dropped and (_handed_out(one, file) or _WAITING & project.fact(ImportClosures).words(file.shown)):
            continue
        if dropped and (_met_later(one, project) or _is_left_to_callers(one, project)):
            continue
        yield violation(
            file,
            one.call,
            f"{one.op}() comes back before anything is exchanged, and its handle is "
            f"{'dropped' if dropped else 'never waited for'}: what uses the tensor next may find its old values",
            "keep what the call returns, and call wait() on it before the tensor is used",
            confidence=Confidence.LIKELY,
        )


def _saved(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the checkpoints that are written beside the training, whose futures are dropped."""
    for call, function in project.calls_in(file) if "async_save" in file.words and not file.is_test else ():
        name = project.name(call.func, function)
        if not name.startswith(_CHECKPOINT) or not name.endswith(".async_save"):
            continue
        around = file.parents.get(call)
        if isinstance(around, ast.Expr) or _is_unread(around, function):
            yield violation(
                file,
                call,
                "async_save() comes back before anything is written, and its future is dropped: nobody hears of a "
                "write that fails, and the next save, or the end of the process, does not wait for it",
                "keep the future, and call result() on it before the next save and the end of the process group",
                confidence=Confidence.LIKELY,
            )


def _is_unread(around: ast.AST | None, function: Function) -> bool:
    """Whether a value is given to a local name that nothing reads."""
    if not isinstance(around, ast.Assign) or len(around.targets) != 1 or not isinstance(around.targets[0], ast.Name):
        return False
    name = around.targets[0].id
    if function.name == "<module>" or any(
        isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in function.own_nodes
    ):
        return False
    return not any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in walk(function.syntax)
    )


def _dropped_by_callers(one: CollectiveCallSite, file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls of a function that gives the handle back, where they drop it."""
    if not isinstance(file.parents.get(one.call), ast.Return):
        return
    for call, caller in project.callers(one.function)[:8]:
        where = project.file_with(caller)
        site = CollectiveCallSite(one.op, call, caller)
        if isinstance(where.parents.get(call), ast.Expr) and not where.is_test and not _met_later(site, project):
            yield violation(
                where,
                call,
                f"{one.function.name}() gives back the handle of {one.op}(), and it is dropped: what uses the tensor "
                "next may find its old values",
                "keep what the call returns, and call wait() on it before the tensor is used",
                steps=(step(file, one.call, f"{one.op}() comes back before anything is exchanged"),),
                confidence=Confidence.LIKELY,
            )


def _returns_at_once(one: CollectiveCallSite) -> bool:
    given = one.argument("async_op") if "async_op" in operations.PARAMETERS[one.op] else None
    return one.op in _ALWAYS or (isinstance(given, ast.Constant) and given.value is True)


def _met_later(one: CollectiveCallSite, project: Project) -> bool:
    """Whether what follows waits for the whole device, or meets in the same order and has to finish it before."""
    for node in one.function.nodes_of(ast.Call):
        if not isinstance(node, ast.Call) or node.lineno <= one.call.lineno:
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("synchronize", "wait_stream"):
            return True
        later = operation_call(node, one.function, project)
        if later is not None and not _returns_at_once(later):
            return True
    return False


def _is_left_to_callers(one: CollectiveCallSite, project: Project) -> bool:
    """Whether the function's name says that it only begins the exchange, and its program waits for the device."""
    begins = "async" in one.function.name.rpartition(".")[2].lower()
    return begins and "synchronize" in project.fact(ImportClosures).words(one.function.file)


def _handed_out(one: CollectiveCallSite, file: ProjectFile) -> bool:
    """Whether a caller is given the handle: it may be one that is not in the program."""
    if isinstance(file.parents.get(one.call), (ast.Return, ast.Yield, ast.Lambda)):
        return True
    around = file.parents.get(one.call)
    names = {ast.unparse(target) for target in around.targets} if isinstance(around, ast.Assign) else set()
    given = [node.value for node in one.function.nodes_of(ast.Return) if isinstance(node, ast.Return) and node.value]
    return any(ast.unparse(part) in names for value in given for part in walk(value))

"""A thread or a task in a pool may die without anybody hearing of it.

What it does: flags threads that fill a queue and may fail on the way, or leave their loop without a last word, while
somebody waits for that queue; threads that save a checkpoint and catch nothing; and tasks given to an executor or to
apply_async of a pool whose result nobody asks for.

Why it matters: an exception in a thread ends the thread and nothing else. Who waits for its queue waits for ever, runs
into a timeout that says nothing of the cause, or takes the silence for the end of the data. An exception in a task is
kept in its future and is gone with it.

Bad:

    def _work(self):
        for path in self.paths:
            self.queue.put(torch.load(path))

Good:

    def _work(self):
        try:
            for path in self.paths:
                self.queue.put(torch.load(path))
        except BaseException as error:
            self.queue.put(error)

What it cannot see: whether what the thread does ever fails; a thread that only computes is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import is_broad
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.producer_threads import ProducerThread, queue_threads, risks, silent_end
from diagnostics.static.torch_code.training_functions import TrainingFunctions

CODE = "A505"
NAME = "thread-exception-lost"
SEVERITY = Severity.WARNING
WORDS = ("Thread", "submit", "apply_async")
CHECKLIST = "exceptions of threads reach the main thread"
_SAVES = {"torch.save", "torch.distributed.checkpoint.save", "safetensors.torch.save_file"}
_EXECUTORS = re.compile(r"^concurrent\.futures\.(?:\w+\.)?(?:Thread|Process)PoolExecutor$")
_POOLS = re.compile(r"^(?:torch\.)?(?:multiprocess(?:ing)?|billiard)\.(?:\w+\.)*(?:Thread)?Pool$")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the threads and tasks whose exceptions are lost."""
    for thread in queue_threads(file, project):
        yield from _thread(file, project, thread)
    yield from _savers(file, project)
    for call, function in project.calls_in(file):
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("submit", "apply_async"):
            yield from _task(file, project, call, function)


def _thread(file: ProjectFile, project: Project, thread: ProducerThread) -> Iterator[Violation]:
    source, name = project.file_with(thread.target), thread.target.name
    started = step(file, thread.started, f"a thread runs {name}")
    waited = step(project.file_with(thread.reader), thread.get, "... that is waited for here")
    left = silent_end(thread, source) if thread.waits_forever else None
    risk = next(risks(thread, source), None)
    if left is not None:
        yield violation(
            source,
            left.body[-1],
            f"{name}, which runs in a thread, may leave its loop here without a last word: who waits for its queue "
            "waits for ever",
            "put a last item in the queue, in a finally, and end the reader's loop where it comes",
            steps=(started, step(source, left, "under this condition nothing more is put in the queue ..."), waited),
            confidence=Confidence.LIKELY,
        )
    if risk is not None:
        yield violation(
            source,
            risk,
            f"an error in {name}, which runs in a thread, ends the thread only: who waits for its queue never hears of "
            "it",
            "catch BaseException in the thread, put it in the queue, and raise it where the queue is read",
            steps=(
                started,
                step(source, risk, "this may fail, and nothing in the thread catches it"),
                step(source, thread.put, "then nothing more is put in the queue ..."),
                waited,
            ),
            # The reader gets a last item, and may do the work itself.
            confidence=Confidence.POSSIBLE if _says_the_end(risk, source) else Confidence.LIKELY,
        )


def _says_the_end(risk: ast.AST, file: ProjectFile) -> bool:
    """Whether a `finally` around a statement puts something in a queue."""
    below, parent = risk, file.parents.get(risk)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(parent, ast.Try) and below not in parent.finalbody:
            called = (node.func for one in parent.finalbody for node in walk(one) if isinstance(node, ast.Call))
            if any(isinstance(one, ast.Attribute) and one.attr in ("put", "put_nowait") for one in called):
                return True
        below, parent = parent, file.parents.get(parent)
    return False


def _savers(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the threads that save a checkpoint, where nobody would hear that it failed."""
    if "excepthook" in file.words:
        return
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != "threading.Thread":
            continue
        for target in project.fact(TrainingFunctions).started(call, function):
            source = project.file_with(target)
            calls = [one for one in target.nodes_of(ast.Call) if isinstance(one, ast.Call)]
            saves = [one for one in calls if project.name(one.func, target) in _SAVES and not _in_try(one, source)]
            if saves:
                yield violation(
                    file,
                    call,
                    f"an error in {target.name}, which runs in a thread, ends the thread only: the training goes on "
                    "without the checkpoint, and nothing fails",
                    "run it in a ThreadPoolExecutor and call result() on its future, or keep the error and raise it "
                    "after join()",
                    steps=(
                        step(file, call, f"a thread runs {target.name}"),
                        step(source, saves[0], "this may fail, and nothing in the thread catches it"),
                    ),
                    confidence=Confidence.LIKELY,
                )
                break


def _in_try(node: ast.AST, file: ProjectFile) -> bool:
    """Whether a handler, of whatever errors, is around a node of a function."""
    parent = file.parents.get(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(parent, ast.Try) and parent.handlers:
            return True
        parent = file.parents.get(parent)
    return False


def _task(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> Iterator[Violation]:
    dropped = isinstance(file.parents.get(call), ast.Expr) or _is_only_told(call, function, file, project)
    if not dropped or not call.args or not _is_executor(call, function, project):
        return
    targets = list(project.meant(call.args[0], function))
    if any(_catches_all(one) for one in targets):
        return
    of_pool = call.func.attr == "apply_async"  # type: ignore[attr-defined]
    if of_pool and any(one.arg in ("callback", "error_callback", None) for one in call.keywords):
        return
    # Where the block waits for its tasks, the program goes on as if all were done.
    waits = _is_closed_and_joined(call, function) if of_pool else _waits_in_block(call, file) or _is_shut_down(file)
    yield violation(
        file,
        call,
        f"the {'result' if of_pool else 'future'} of {ast.unparse(call.args[0])[:40]} is dropped: an exception in it "
        "is never seen",
        f"keep the {'result and call get()' if of_pool else 'future and call result()'} on it before the program ends",
        confidence=Confidence.LIKELY if waits else Confidence.POSSIBLE,
    )


def _is_closed_and_joined(call: ast.Call, function: Function) -> bool:
    """Whether a function waits for all tasks of the pool: close() and join() behind the call."""
    assert isinstance(call.func, ast.Attribute)  # noqa: S101 (asked for calls of apply_async)
    pool = ast.unparse(call.func.value)
    behind = {one.func.attr for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)
              and isinstance(one.func, ast.Attribute) and ast.unparse(one.func.value) == pool
              and one.lineno > call.lineno}  # fmt: skip
    return behind >= {"close", "join"}


def _is_only_told(call: ast.Call, function: Function, file: ProjectFile, project: Project) -> bool:
    """Whether all that becomes of a future is a callback that never asks how it ended."""
    added = file.parents.get(call)
    told = file.parents.get(added) if isinstance(added, ast.Attribute) and added.attr == "add_done_callback" else None
    if not isinstance(told, ast.Call) or not isinstance(file.parents.get(told), ast.Expr):
        return False
    called = [one for value in told.args[:1] for one in project.meant(value, function)]
    return bool(called) and not any(
        isinstance(node, ast.Attribute) and node.attr in ("result", "exception") for one in called
        for node in one.own_nodes
    )  # fmt: skip


def _is_shut_down(file: ProjectFile) -> bool:
    """Whether a file waits for all tasks of a pool, by shutdown(), and asks no future for its result."""
    if "shutdown" not in file.words or file.words & {"result", "exception", "as_completed", "add_done_callback"}:
        return False
    calls = (node for node in walk(file.tree) if isinstance(node, ast.Call)) if file.tree is not None else ()
    return any(
        isinstance(one.func, ast.Attribute) and one.func.attr == "shutdown"
        and not any(isinstance(each.value, ast.Constant) and each.arg == "wait" and not each.value.value
                    for each in one.keywords)
        for one in calls
    )  # fmt: skip


def _waits_in_block(call: ast.Call, file: ProjectFile) -> bool:
    assert isinstance(call.func, ast.Attribute)  # noqa: S101 (asked for calls of submit)
    parent = file.parents.get(call)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(parent, ast.With) and any(
            one.optional_vars is not None and ast.unparse(one.optional_vars) == ast.unparse(call.func.value)
            for one in parent.items
        ):
            return True
        parent = file.parents.get(parent)
    return False


def _is_executor(call: ast.Call, function: Function, project: Project) -> bool:
    assert isinstance(call.func, ast.Attribute)  # noqa: S101 (asked for calls of submit)
    base = call.func.value
    if isinstance(base, ast.Name):
        scope: Function | None = function
        while scope is not None and base.id not in scope.assigned:
            scope = scope.outer
        values = [(one, scope) for one in scope.assigned[base.id]] if scope is not None else []
    elif isinstance(base, ast.Attribute):
        kind = project.class_of(function)
        values = list(project.class_attributes(kind, base.attr)) if kind is not None else []
    else:
        values = [(base, function)]
    known = _POOLS if call.func.attr == "apply_async" else _EXECUTORS
    return any(known.match(project.called(one, where)) for one, where in values)


def _catches_all(function: Function) -> bool:
    body = getattr(function.syntax, "body", [])
    if not isinstance(body, list):
        return False
    return any(isinstance(one, ast.Try) and any(is_broad(h) for h in one.handlers) for one in body)

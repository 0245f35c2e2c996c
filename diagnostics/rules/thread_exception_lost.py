"""A thread or a task in a pool may die without anybody hearing of it.

What it does: flags threads that fill a queue and may fail on the way while the main thread waits for that queue, and
tasks given to an executor or a pool whose result nobody asks for.

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

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project
from diagnostics.analysis.swallowed import is_broad
from diagnostics.analysis.training_code import TrainingCode
from diagnostics.findings import Confidence, Severity
from diagnostics.hits import Hit, hit, step

CODE = "A505"
NAME = "thread-exception-lost"
SEVERITY = Severity.WARNING
WORDS = ("Thread", "submit", "apply_async")
CHECKLIST = "exceptions of threads reach the main thread"
_EXECUTORS = re.compile(r"^concurrent\.futures\.(?:\w+\.)?(?:Thread|Process)PoolExecutor$")
_FAILS = re.compile(
    r"^(?:open|load\w*|read\w*|parse\w*|decode\w*|get_batch|fetch\w*|download\w*|request\w*|urlopen|loads|next)$"
)
_FEEDS = re.compile(r"loader|dataset|sampler|iterator|reader", re.IGNORECASE)


def check(file: AuditedFile, project: Project) -> Iterator[Hit]:
    """Yields the threads and tasks whose exceptions are lost."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) == "threading.Thread":
            yield from _thread(file, project, call, function)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "submit":
            yield from _task(file, project, call, function)


def _thread(file: AuditedFile, project: Project, call: ast.Call, function: Function) -> Iterator[Hit]:
    for target in project.fact(TrainingCode).started(call, function):
        put = next((one for one in target.own_nodes if _is_queue_call(one, "put")), None)
        risk = next(
            (one for one in target.own_nodes if _may_fail(one) and not _kept(one, project.file_with(target))), None
        )
        if put is None or risk is None:
            continue
        waits = _wait(project, target, put)
        if waits is None:
            continue
        source = project.file_with(target)
        yield hit(
            source,
            risk,
            f"an error in {target.name}, which runs in a thread, ends the thread only: who waits for its queue never "
            "hears of it",
            "catch BaseException in the thread, put it in the queue, and raise it where the queue is read",
            steps=(
                step(file, call, f"a thread runs {target.name}"),
                step(source, risk, "this may fail, and nothing in the thread catches it"),
                step(source, put, "then nothing more is put in the queue ..."),
                step(project.file_with(waits[1]), waits[0], "... that is waited for here"),
            ),
            confidence=Confidence.LIKELY,
        )


def _is_queue_call(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != name:
        return False
    base = last_name(node.func.value).lower()
    return "queue" in base or base in ("q", "ready", "buffer", "results", "_q", "out") or name == "put"


def _wait(project: Project, target: Function, put: ast.AST) -> tuple[ast.Call, Function] | None:
    """Returns where the queue is read that a thread fills."""
    assert isinstance(put, ast.Call)  # noqa: S101 (a call of put)
    assert isinstance(put.func, ast.Attribute)  # noqa: S101
    base = last_name(put.func.value)
    for call, function in project.calls_by_name.get("get", ()):
        named = isinstance(call.func, ast.Attribute) and last_name(call.func.value) == base
        if named and function.file == target.file and not _gets_a_key(call) and function is not target:
            return call, function
    return None


def _gets_a_key(call: ast.Call) -> bool:
    return bool(call.args) and not isinstance(call.args[0], ast.Constant)


def _may_fail(node: ast.AST) -> bool:
    """Whether a node reads what may be missing or damaged."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return isinstance(node.slice, ast.Name)
    if isinstance(node, ast.Call):
        return bool(_FAILS.match(last_name(node.func)))
    return isinstance(node, ast.For) and bool(_FEEDS.search(ast.unparse(node.iter)))


def _kept(node: ast.AST, file: AuditedFile) -> bool:
    """Whether a handler for all errors is around a node."""
    child, parent = node, file.parents.get(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(parent, ast.Try) and child in parent.body and any(is_broad(one) for one in parent.handlers):
            return True
        child, parent = parent, file.parents.get(parent)
    return False


def _task(file: AuditedFile, project: Project, call: ast.Call, function: Function) -> Iterator[Hit]:
    if not isinstance(file.parents.get(call), ast.Expr) or not call.args or not _is_executor(call, function, project):
        return
    targets = list(project.meant(call.args[0], function))
    if any(_catches_all(one) for one in targets):
        return
    yield hit(
        file,
        call,
        f"the future of {ast.unparse(call.args[0])[:40]} is dropped: an exception in it is never seen",
        "keep the future and call result() on it before the program ends",
        # Where the block waits for its tasks, the program goes on as if all were done.
        confidence=Confidence.LIKELY if _waits_in_block(call, file) else Confidence.POSSIBLE,
    )


def _waits_in_block(call: ast.Call, file: AuditedFile) -> bool:
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
    return any(_EXECUTORS.match(project.called(one, where)) for one, where in values)


def _catches_all(function: Function) -> bool:
    body = getattr(function.syntax, "body", [])
    if not isinstance(body, list):
        return False
    return any(isinstance(one, ast.Try) and any(is_broad(h) for h in one.handlers) for one in body)

"""Threads that fill a queue which others wait for: where they may fail, and where they leave without a word. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import is_broad
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions

_FAILS = re.compile(
    r"^(?:open|load\w*|read\w*|parse\w*|decode\w*|get_batch|fetch\w*|download\w*|request\w*|urlopen|next)$"
)
_FEEDS = re.compile(r"loader|dataset|sampler|iterator|reader", re.IGNORECASE)
# A thread that was told to end owes nobody a last word.
_TOLD = re.compile(r"stop|clos|shut|exit|is_set|terminat|finish|cancel|done|alive|None|abort|kill", re.IGNORECASE)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


@dataclass(frozen=True, slots=True)
class ProducerThread:
    """A thread that runs `target`, in which `put` fills a queue that `get` in `reader` waits for."""

    started: ast.Call
    target: Function
    put: ast.Call
    get: ast.Call
    reader: Function

    @property
    def waits_forever(self) -> bool:
        """Whether the reader waits without a limit."""
        return not self.get.args and not self.get.keywords


def queue_threads(file: ProjectFile, project: Project) -> Iterator[ProducerThread]:
    """Yields the threads that one file starts and that fill a queue."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != "threading.Thread":
            continue
        for target in project.fact(TrainingFunctions).started(call, function):
            put = next((one for one in target.nodes_of(ast.Call) if isinstance(one, ast.Call) and is_put(one)), None)
            read = _read(put, target, project) if put is not None else None
            if put is not None and read is not None:
                yield ProducerThread(call, target, put, *read)


def is_put(node: ast.AST) -> bool:
    """Whether a node is a call of put."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "put"


def _read(put: ast.Call, target: Function, project: Project) -> tuple[ast.Call, Function] | None:
    """Returns where the queue is read that a thread fills."""
    queue = _holder(put)
    for call, function in project.calls_by_name.get("get", ()):
        by_key = bool(call.args) and not isinstance(call.args[0], ast.Constant)
        if _holder(call) == queue and function.file == target.file and not by_key and function is not target:
            return call, function
    return None


def _holder(call: ast.Call) -> str:
    return last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def risks(thread: ProducerThread, file: ProjectFile) -> Iterator[ast.AST]:
    """Yields what may fail in a thread and is not caught there, the likeliest first."""
    found = [one for one in thread.target.own_nodes if _may_fail(one) and not _is_kept(one, file)]
    return iter(sorted(found, key=lambda one: isinstance(one, ast.For)))


def _may_fail(node: ast.AST) -> bool:
    """Whether a node reads what may be missing or damaged."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return isinstance(node.slice, ast.Name)
    if isinstance(node, ast.Call):
        return bool(_FAILS.match(last_name(node.func)))
    return isinstance(node, ast.For) and bool(_FEEDS.search(ast.unparse(node.iter)))


def _is_kept(node: ast.AST, file: ProjectFile) -> bool:
    """Whether a handler for all errors is around a node."""
    child, parent = node, file.parents.get(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(parent, ast.Try) and child in parent.body and any(is_broad(one) for one in parent.handlers):
            return True
        child, parent = parent, file.parents.get(parent)
    return False


def silent_end(thread: ProducerThread, file: ProjectFile) -> ast.If | None:
    """Returns the condition by which a thread leaves the loop that fills its queue, with nothing put afterwards."""
    for node in thread.target.own_nodes:
        if not isinstance(node, ast.If) or not isinstance(node.body[-1], (ast.Break, ast.Return)):
            continue
        loop = _loop_around(node, file)
        if loop is None or _TOLD.search(ast.unparse(node.test)) or any(map(is_put, walk(node))):
            continue
        after = [one for one in thread.target.own_nodes if is_put(one) and _line(one) > (loop.end_lineno or 0)]
        if any(map(is_put, walk(loop))) and not after:
            return node
    return None


def _loop_around(node: ast.AST, file: ProjectFile) -> ast.For | ast.While | ast.AsyncFor | None:
    parent = file.parents.get(node)
    while parent is not None and not isinstance(parent, (*_LOOPS, ast.FunctionDef, ast.AsyncFunctionDef)):
        parent = file.parents.get(parent)
    return parent if isinstance(parent, _LOOPS) else None


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))

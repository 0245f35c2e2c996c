"""Whether a thread that died was the one that takes work out of a queue which others go on filling. Pure.

A writer of snapshots or a sender of metrics works in a loop of its own. Whoever hands work to it puts that into a
queue and does not look back: once the thread is dead, everything that is put there is lost, and nothing fails.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.dynamic.job.job import ExceptionRecord, Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

_TAKES, _PUTS = frozenset(["get", "get_nowait"]), frozenset(["put", "put_nowait"])
_WATCHES = frozenset(["is_alive", "excepthook"])  # a program that does so may begin such a thread anew


def is_given_work_in_vain(job: Job, process: JobProcess, thread: ExceptionRecord) -> bool:
    """Whether the thread died in a loop that takes out of a queue, and other code of the program fills that queue."""
    taken = {name for at in thread.user_path for name in _taken_in_loops(job.sources.file(at.file), at.line)}
    if not taken:
        return False
    filled: set[str] = set()
    for _, source in job_sources(job, process):
        for node in walk(source.tree) if source.tree is not None else ():
            if isinstance(node, ast.Attribute) and node.attr in _WATCHES:
                return False
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PUTS:
                filled |= {last_name(node.func.value)} if _is_work(node) else set()
    return bool(taken & filled)


def _is_work(put: ast.Call) -> bool:
    """Whether more than a word that ends the loop is put: `queue.put(None)`."""
    return bool(put.args) and not isinstance(put.args[0], ast.Constant)


def _taken_in_loops(source: SourceFile, line: int) -> Iterator[str]:
    """Yields the names of what a loop around a line takes from: `queue.get()`, `iter(queue.get, None)`."""
    function = source.function_at(line)
    for loop in walk(function) if function is not None else ():
        if isinstance(loop, ast.While | ast.For) and spans(loop, line):
            for node in walk(loop):
                if isinstance(node, ast.Attribute) and node.attr in _TAKES and not _looks_up(node, loop):
                    yield last_name(node.value)


def _looks_up(taker: ast.Attribute, loop: ast.AST) -> bool:
    """Whether it is a look into a table, `table.get(key)`: a queue is asked without words, or for how long."""
    calls = [node for node in walk(loop) if isinstance(node, ast.Call) and node.func is taker]
    return any(call.args and not isinstance(call.args[0], ast.Constant) for call in calls)

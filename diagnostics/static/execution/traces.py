"""Runs every script of a project once. Pure."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from diagnostics.static.execution.entries import Entry, entries, run_entry
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.state import RunState, TooLargeError
from diagnostics.static.execution.statements import Interpreter
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

MOST_SCRIPTS, MOST_ENTRIES = 60, 200
_FRAMES = 4000  # of Python, for a program that calls MOST_DEPTH functions in expressions and loops
WORDS = frozenset(["init_process_group", "DistributedDataParallel", "DistributedSampler", "fully_shard", "GradScaler",
                   "optim", "FullyShardedDataParallel", "all_reduce", "multiprocessing", "DataLoader"])  # fmt: skip


@per_project
def executions(project: Project) -> tuple[Execution, ...]:
    """Returns what happens in each script of a project that trains or takes part in it."""
    scripts = [one for one in project.python if one.shown in project.files and _is_script(one)]
    if not any(not WORDS.isdisjoint(one.words) for one in project.python):
        return ()
    entered: set[int] = set()
    with _deep():
        found = [_run(one.shown, project, entered) for one in scripts[:MOST_SCRIPTS]]
        libraries = [one for one in project.python if one.shown in project.files and _takes_part(one)]
        for entry in islice(entries(libraries), MOST_ENTRIES):
            if id(entry.syntax) not in entered:
                found += [_run(entry.file, project, entered, entry, method) for method in entry.methods]
    return tuple(found)


def _run(file: str, project: Project, entered: set[int], entry: Entry | None = None, method: str = "") -> Execution:
    execution = Execution(file)
    state = RunState(project, execution)
    interpreter = Interpreter(state)
    try:
        if entry is None:
            interpreter.run_script(file)
        else:
            run_entry(entry, method, interpreter)
    except (TooLargeError, RecursionError):
        execution.whole = False
    entered |= state.entered
    return execution


def _takes_part(file: ProjectFile) -> bool:
    return not file.is_test and not WORDS.isdisjoint(file.words)


def _is_script(file: ProjectFile) -> bool:
    """Whether a file is one that people start: it has a main block, or works at its top level."""
    body = file.tree.body if file.tree is not None else []
    if file.is_test:
        return False
    for one in body:
        if isinstance(one, ast.If) and "__name__" in ast.unparse(one.test):
            return True
    return any(isinstance(one, (ast.For, ast.While, ast.With)) or _is_call(one) for one in body)


def _is_call(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


@contextmanager
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)

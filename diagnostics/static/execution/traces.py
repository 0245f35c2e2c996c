"""Runs every script of a project once. Pure."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.state import RunState, TooLargeError
from diagnostics.static.execution.statements import Interpreter
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

MOST_SCRIPTS = 60
_FRAMES = 4000  # of Python, for a program that calls MOST_DEPTH functions in expressions and loops
WORDS = frozenset(["init_process_group", "DistributedDataParallel", "DistributedSampler", "fully_shard", "GradScaler",
                   "optim", "FullyShardedDataParallel", "all_reduce", "multiprocessing", "DataLoader"])  # fmt: skip


@per_project
def executions(project: Project) -> tuple[Execution, ...]:
    """Returns what happens in each script of a project that trains or takes part in it."""
    scripts = [one for one in project.python if one.shown in project.files and _is_script(one)]
    if not any(not WORDS.isdisjoint(one.words) for one in project.python):
        return ()
    with _deep():
        return tuple(_run(one.shown, project) for one in scripts[:MOST_SCRIPTS])


def _run(file: str, project: Project) -> Execution:
    execution = Execution(file)
    try:
        Interpreter(RunState(project, execution)).run_script(file)
    except (TooLargeError, RecursionError):
        execution.whole = False
    return execution


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

"""Runs every script of a project once. Pure."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from diagnostics.agent.shared import operations
from diagnostics.static.execution.entries import UncalledCode, entries, run_entry
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.state import MOST_STATEMENTS, RunState, TooLargeError
from diagnostics.static.execution.statements import Interpreter
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

MOST_SCRIPTS, MOST_ENTRIES = 60, 200
MOST_OF_ENTRY = 3 * MOST_STATEMENTS  # a class of which each object takes long to make is begun with a few methods
_FRAMES = 4000  # of Python, for a program that calls MOST_DEPTH functions in expressions and loops
WORDS = frozenset(
    ["init_process_group", "DistributedDataParallel", "DistributedSampler", "fully_shard", "GradScaler", "optim",
     "FullyShardedDataParallel", "multiprocessing", "DataLoader", "deepspeed",
     *operations.SUMS_FOR_ALL]
)  # fmt: skip


@dataclass(slots=True)
class _Runs:
    """Scripts that were run, and what they came to; then what they did not come to."""

    scripts: tuple[Execution, ...] = ()
    entered: set[int] = field(default_factory=set)
    uncalled: tuple[Execution, ...] | None = None


def executions(project: Project) -> tuple[Execution, ...]:
    """Returns what happens in each script of a project that trains or takes part in it."""
    return _runs(project).scripts


def uncalled_executions(project: Project) -> tuple[Execution, ...]:
    """Returns what happens in functions and classes that no script of the project comes to.

    Whoever calls them may do before and behind them what is missed in them.
    """
    runs = _runs(project)
    if runs.uncalled is None:
        found: list[Execution] = []
        files = [one for one in project.python if one.shown in project.files and _takes_part(one)]
        with _deep():
            for entry in islice(entries(files), MOST_ENTRIES):
                if id(entry.syntax) not in runs.entered:
                    found += _of_entry(entry, project, runs.entered)
        runs.uncalled = tuple(found)
    return runs.uncalled


def _of_entry(entry: UncalledCode, project: Project, entered: set[int]) -> Iterator[Execution]:
    """Yields a run for each method of an entry, to the one with which they have run enough statements together."""
    taken = 0
    for method in entry.methods:
        execution, statements = _run(entry.file, project, entered, entry, method)
        yield execution
        taken += statements
        if taken > MOST_OF_ENTRY:
            return


@per_project
def _runs(project: Project) -> _Runs:
    scripts = [one for one in project.python if one.shown in project.files and _is_script(one)]
    runs = _Runs()
    if any(not WORDS.isdisjoint(one.words) for one in project.python):
        with _deep():
            runs.scripts = tuple(_run(one.shown, project, runs.entered)[0] for one in scripts[:MOST_SCRIPTS])
    return runs


def _run(
    file: str, project: Project, entered: set[int], entry: UncalledCode | None = None, method: str = ""
) -> tuple[Execution, int]:
    """Returns what happens in a script or entry, and how many statements it took."""
    execution = Execution(file, uncalled=entry is not None)
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
    return execution, state.statements


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

"""Process group with a timeout of five seconds or less.

What it does: points at init_process_group() calls whose `timeout` is timedelta(seconds=N), N being 5 or less.

Why it matters: the limit holds for the start of every rank and for each wait of the run, too. An import from a cold
disk, a compiled first step, a checkpoint that one rank writes: each takes longer than that, and then the ranks that
were on time abort a run that was well.

Bad:

    dist.init_process_group("gloo", timeout=timedelta(seconds=5))

Good:

    dist.init_process_group("gloo", timeout=timedelta(minutes=10))

What it cannot see: limits that are computed or read from a configuration, and a program that is to fail within seconds,
such as a test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import INIT

CODE = "A173"
NAME = "group-timeout-of-seconds"
SEVERITY = Severity.WARNING
WORDS = ("init_process_group",)

_SHORTEST_S = 5
_POSITION = 2  # init_process_group(backend, init_method, timeout, ...)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the process groups whose ranks give up within seconds."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != INIT:
            continue
        limit = _timeout(call)
        seconds = _seconds(limit, function, project)
        if limit is not None and seconds is not None and seconds <= _SHORTEST_S:
            yield violation(
                file,
                limit,
                f"the ranks wait {seconds:g} s at most for one another: one that loads, compiles or saves for longer "
                "ends the run",
                "a limit above the longest wait that is right, e.g. timeout=timedelta(minutes=10)",
            )


def _timeout(call: ast.Call) -> ast.expr | None:
    named = next((one.value for one in call.keywords if one.arg == "timeout"), None)
    if named is not None or len(call.args) <= _POSITION:
        return named
    return None if any(isinstance(one, ast.Starred) for one in call.args[:_POSITION]) else call.args[_POSITION]


def _seconds(limit: ast.expr | None, function: Function, project: Project) -> float | None:
    """Returns N of timedelta(seconds=N), None of anything else."""
    if not isinstance(limit, ast.Call) or project.name(limit.func, function) != "datetime.timedelta":
        return None
    match limit:
        case ast.Call(
            args=[], keywords=[ast.keyword(arg="seconds", value=ast.Constant(value=int() | float() as seconds))]
        ):
            return seconds
    return None

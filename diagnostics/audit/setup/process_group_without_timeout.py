"""Process group created without a timeout.

What it does: points at init_process_group() calls that pass no `timeout`.

Why it matters: a rank that never arrives leaves the others waiting for the backend's default, 10 minutes for NCCL and
30 for others, before anything is said. A timeout of your own is a decision: long enough for the slowest legitimate wait
(rank 0 that prepares data), short enough that a hang costs minutes.

Bad:

    dist.init_process_group("gloo")

Good:

    dist.init_process_group("gloo", timeout=timedelta(minutes=10))

What it cannot see: how long the program's longest wait is. So it is advice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Edit, Violation, violation
from diagnostics.core.findings import Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import INIT, group_timeout

CODE = "A151"
NAME = "process-group-without-timeout"
SEVERITY = Severity.INFO
WORDS = ("init_process_group",)
CHECKLIST = "the process group has a timeout of its own"
_TIMEDELTA = "datetime.timedelta"
_WITHOUT = {"fake", "threaded", "mpi", "xla", "xla://"}  # they know no such timeout


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the process groups with the backend's default timeout."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) == INIT and not _has_timeout(call) and _waits(call):
            yield violation(
                file,
                call,
                "init_process_group has no timeout: a rank that never comes is noticed after the backend's default, "
                "10 minutes for NCCL, 30 for others",
                "timeout=timedelta(minutes=10), or as long as the longest wait that is right",
                edits=_edits(file, project, call, function),
            )


def _has_timeout(call: ast.Call) -> bool:
    """Whether a call gives a timeout, or may: behind `*more` and `**more` nothing is seen."""
    hidden = any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
    return hidden or group_timeout(call) is not None


def _waits(call: ast.Call) -> bool:
    """Whether the group may wait for others, as far as literals say: not in a world of one."""
    values = [*call.args[:2], *(one.value for one in call.keywords if one.arg in ("backend", "init_method"))]
    named = {one.value for one in values if isinstance(one, ast.Constant)}
    sizes = [one.value for one in call.keywords if one.arg == "world_size"]
    return not named & _WITHOUT and not any(isinstance(one, ast.Constant) and one.value == 1 for one in sizes)


def _edits(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> tuple[Edit, ...]:
    """Returns the edits that add a timeout and what it needs; none where the call cannot be edited safely."""
    given = [*call.args, *(one.value for one in call.keywords)]
    last = max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0), default=None)
    name, more = _timedelta(file, project)
    if last is None:
        at = (call.end_lineno or call.lineno, (call.end_col_offset or 1) - 1)
        text = f"timeout={name}(minutes=10)"
    else:
        at = (last.end_lineno or call.lineno, last.end_col_offset or 0)
        text = f", timeout={name}(minutes=10)"
    if not re.fullmatch(r"\s*+(?:,\s*+)?+(?:#[^\n]*+\s*+)?+\)", _between(file, at, call)):
        return ()
    return (Edit(start=at, end=at, text=text), *more)


def _between(file: ProjectFile, start: tuple[int, int], call: ast.Call) -> str:
    """Returns the text from a place to the end of a call."""
    end = (call.end_lineno or call.lineno, call.end_col_offset or 0)
    lines = [file.line(number).encode() for number in range(start[0], end[0] + 1)]
    lines[-1] = lines[-1][: end[1]]
    lines[0] = lines[0][start[1] :]
    return b"\n".join(lines).decode()


def _timedelta(file: ProjectFile, project: Project) -> tuple[str, tuple[Edit, ...]]:
    """Returns how the file names timedelta, and the edit that imports it where it does not."""
    bound = project.bound(file.shown)
    for name, meaning in bound.items():
        if meaning == _TIMEDELTA:
            return name, ()
        if meaning == "datetime":
            return f"{name}.timedelta", ()
    at = (_first_import(file), 0)
    return "timedelta", (Edit(start=at, end=at, text="from datetime import timedelta\n"),)


def _first_import(file: ProjectFile) -> int:
    """Returns the line of the first import that is not from __future__, else of the first statement."""
    body = file.tree.body if file.tree is not None else []
    for one in body:
        if isinstance(one, (ast.Import, ast.ImportFrom)) and getattr(one, "module", "") != "__future__":
            return one.lineno
    rest = [one for one in body if not isinstance(one, ast.ImportFrom) and not _is_text(one)]
    return rest[0].lineno if rest else 1


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

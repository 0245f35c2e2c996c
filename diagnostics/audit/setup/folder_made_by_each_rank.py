"""Every rank makes or removes the same folder.

What it does: flags os.makedirs and mkdir without exist_ok, or with exist_ok=False, and shutil.rmtree, that all ranks
come to: under no test of the rank, no lock, and no `try`.

Why it matters: between "is it there?" and "make it" another rank has made it: FileExistsError on one rank, now and
then, and the others wait for it. A folder that is removed by each rank takes away what a faster one has just written.

Bad:

    if not os.path.exists(out):
        os.makedirs(out)

Good:

    os.makedirs(out, exist_ok=True)

What it cannot see: whether the ranks share a disk.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.own_sources import is_of_own_folder
from diagnostics.static.dataflow.rank_guards import is_rank_dependent
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.every_rank import EveryRank

CODE = "A168"
NAME = "folder-made-by-each-rank"
SEVERITY = Severity.WARNING
WORDS = ("makedirs", "mkdir", "rmtree")
CHECKLIST = "folders are made by one rank, or with exist_ok"
_MAKES = frozenset(["os.makedirs", "os.mkdir"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the folders that each rank makes, or removes."""
    for call, function in project.calls_in(file):
        path = _path(call, function, project)
        if path is None or not project.fact(EveryRank).runs(call, function):
            continue
        if is_rank_dependent(path, function, project) or is_of_own_folder(path, function, project):
            continue  # a folder of its own
        strict = _is_strict(call)
        removes = project.name(call.func, function) == "shutil.rmtree"
        yield violation(
            file,
            call,
            f"every rank {'removes' if removes else 'makes'} {ast.unparse(path)[:50]}: "
            + (
                "what a faster rank has written there goes, and one finds it gone while removing it"
                if removes
                else "all but one find it made already and raise FileExistsError"
                if strict
                else "one finds it made already and raises FileExistsError, and the others wait for it"
            ),
            "let rank 0 do it and the others wait: if rank == 0: ..., then dist.barrier()"
            if removes
            else "let rank 0 make it and tell the others how it went: dist.broadcast_object_list([problem], src=0)"
            if strict
            else "exist_ok=True",
            confidence=Confidence.LIKELY,
        )


def _path(call: ast.Call, function: Function, project: Project) -> ast.expr | None:
    """Returns the folder that a call makes in a way that fails where it is there, or that it removes."""
    name = project.name(call.func, function)
    if name == "shutil.rmtree" and call.args:
        quiet = any(one.arg == "ignore_errors" for one in call.keywords) and len(call.args) == 1
        return None if quiet else call.args[0]
    if any(one.arg in ("exist_ok", None) for one in call.keywords) and not _is_strict(call):
        return None
    if name in _MAKES and call.args and (name == "os.mkdir" or len(call.args) < 3):
        return call.args[0]
    plain = isinstance(call.func, ast.Attribute) and call.func.attr == "mkdir" and not name.startswith("os.")
    if plain and isinstance(call.func, ast.Attribute) and len(call.args) < 3:
        # `utils.mkdir(path)` is a function of the project's, not a method of a path: it may take what is there.
        return None if project.targets(call, function) else call.func.value
    return None


def _is_strict(call: ast.Call) -> bool:
    """Whether a call says itself that the folder must not be there."""
    told = (one.value for one in call.keywords if one.arg == "exist_ok")
    return any(isinstance(one, ast.Constant) and one.value is False for one in told)

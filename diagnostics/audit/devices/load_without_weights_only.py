"""A downloaded file is loaded with a full unpickler.

What it does: flags torch.load(weights_only=False), and torch.load() that says nothing, of a file that the same
function, or one that it calls, downloads; other loads with weights_only=False are possible findings.

Why it matters: unpickling runs whatever the file says, on every rank, with the cluster's credentials. Since torch 2.6
weights_only=True is the default; before, and with weights_only=False, a model file is a program.

Bad:

    path = hf_hub_download(repo, "model.bin")
    state = torch.load(path, weights_only=False)

Good:

    state = torch.load(path, map_location="cpu", weights_only=True)

What it cannot see: who wrote a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A405"
NAME = "load-without-weights-only"
SEVERITY = Severity.WARNING
WORDS = ("load",)
_DOWNLOADS = frozenset(
    ["hf_hub_download", "urlretrieve", "cached_download", "download_url_to_file", "download_url", "cached_path",
     "wget", "gdown", "snapshot_download", "download_file", "download_from_url"]
)  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loads that would run a program out of a file."""
    for call, function in project.calls_in(file):
        if last_name(call.func) != "load" or project.name(call.func, function) != "torch.load" or not call.args:
            continue
        said = {one.arg: one.value for one in call.keywords}
        value = said.get("weights_only")
        full = isinstance(value, ast.Constant) and value.value is False
        if None in said or (value is not None and not full):
            continue
        download = _downloaded(call.args[0], function, project)
        if download is None and not full:
            continue
        yield violation(
            file,
            call,
            f"{ast.unparse(call)[:80]} unpickles "
            + ("a downloaded file" if download is not None else "a file")
            + (": it runs whatever the file says" if full else ": before torch 2.6 it runs whatever the file says"),
            "weights_only=True; name the classes it may hold with torch.serialization.add_safe_globals",
            steps=(step(project.file_with(download[1]), download[0], "the file comes from elsewhere"),)
            if download is not None
            else (),
            confidence=Confidence.LIKELY if download is not None and full else Confidence.POSSIBLE,
            severity=Severity.WARNING if full else Severity.INFO,
        )


def _downloaded(
    path: ast.expr, function: Function, project: Project, rounds: int = 3
) -> tuple[ast.Call, Function] | None:
    """Returns the download that a path comes from, and the function that downloads."""
    for node in walk(path):
        if isinstance(node, ast.Call) and last_name(node.func) in _DOWNLOADS:
            return node, function
        for value, where in _sources(node, function, project) if rounds else ():
            found = _downloaded(value, where, project, rounds - 1) if value is not path else None
            if found is not None:
                return found
    return None


def _sources(node: ast.AST, function: Function, project: Project) -> Iterator[tuple[ast.expr, Function]]:
    """Yields what a name is assigned, and what a function of the project gives back."""
    if isinstance(node, ast.Name):
        yield from ((value, function) for value in function.assigned.get(node.id, ()))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        for target in project.targets(node, function):
            for one in target.nodes_of(ast.Return):
                if isinstance(one, ast.Return) and one.value is not None:
                    yield one.value, target

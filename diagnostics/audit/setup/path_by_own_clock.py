"""Each rank names a folder by its own clock, and all are to find one file in it.

What it does: flags paths made of the time or of a random number on each rank, which one rank writes and all read, or
into which all ranks write parts of one checkpoint.

Why it matters: ranks start within a second of each other, now and then across its border. Rank 0 writes into its
folder, another rank looks into its own and finds nothing; the parts of a sharded checkpoint lie in several folders, and
none of them is whole.

Bad:

    folder = f"runs/{datetime.now():%Y%m%d-%H%M%S}"      # on every rank

Good:

    name = [f"runs/{datetime.now():%Y%m%d-%H%M%S}"]
    dist.broadcast_object_list(name, src=0)
    folder = name[0]

What it cannot see: folders that the launcher names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.own_sources import own_source
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.every_rank import EveryRank

CODE = "A167"
NAME = "path-by-own-clock"
SEVERITY = Severity.ERROR
WORDS = ("load", "save", "async_save", "save_checkpoint", "open", "load_checkpoint")
CHECKLIST = "all ranks are told one folder"
_READS = {"torch.load": ("f", 0), "json.load": ("", 0), "numpy.load": ("file", 0), "open": ("file", 0)}
_PARTS = {
    "torch.distributed.checkpoint.save": ("checkpoint_id", 1),
    "torch.distributed.checkpoint.async_save": ("checkpoint_id", 1),
    "torch.distributed.checkpoint.load": ("checkpoint_id", 1),
    "torch.distributed.checkpoint.FileSystemWriter": ("path", 0),
    "torch.distributed.checkpoint.FileSystemReader": ("path", 0),
}
_METHODS = {"save_checkpoint": ("save_dir", 0), "load_checkpoint": ("load_dir", 0)}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the paths that all ranks are to share, and each makes by its own clock."""
    words = project.fact(ImportClosures).words(file.shown)
    if {"torchelastic_run_id", *operations.TO_ALL} & words:
        return
    told: set[int] = set()
    for call, function in project.calls_in(file):
        path, parts = _path(call, function, project, words)
        if path is None or not project.fact(EveryRank).runs(call, function):
            continue
        made = own_source(path, function, project)
        if made is None or id(made[0]) in told:
            continue
        told.add(id(made[0]))
        home = project.file_with(made[1])
        use = "writes its part into" if parts else "reads from"
        yield violation(
            home,
            made[0],
            f"each rank takes {ast.unparse(made[0])[:40]} by itself for the name of a folder, and all are to share it: "
            "those that start a moment later have another one",
            "let rank 0 make the name, and hand it out: dist.broadcast_object_list([name], src=0)",
            steps=(step(home, made[0], "another value on each rank"), step(file, call, f"every rank {use} it")),
            confidence=Confidence.LIKELY,
        )


def _path(call: ast.Call, function: Function, project: Project, words: frozenset[str]) -> tuple[ast.expr | None, bool]:
    """Returns the path of a call that reads, or writes a part, and whether it is a part."""
    name = project.name(call.func, function) or (call.func.id if isinstance(call.func, ast.Name) else "")
    if name in _PARTS:
        return _given(call, *_PARTS[name]), True
    if name in _READS:
        if name == "open" and not _opens_to_read(call):
            return None, False
        return _given(call, *_READS[name]), False
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in _METHODS and "deepspeed" in words:
        return _given(call, *_METHODS[method]), True
    return None, False


def _opens_to_read(call: ast.Call) -> bool:
    mode = call.args[1] if len(call.args) > 1 else next((one.value for one in call.keywords if one.arg == "mode"), None)
    return mode is None or (isinstance(mode, ast.Constant) and str(mode.value).startswith("r"))


def _given(call: ast.Call, name: str, at: int) -> ast.expr | None:
    found = next((one.value for one in call.keywords if one.arg == name), None)
    return found if found is not None else call.args[at] if at < len(call.args) else None

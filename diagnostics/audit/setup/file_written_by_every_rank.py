"""Every rank saves to the same file.

What it does: flags torch.save to a path that is the same on all ranks, which all of them come to: under no test of the
rank; and a cache in any format that each rank writes which does not find it, and reads right behind.

Why it matters: the ranks write into one file at once. What is left is a mixture that torch.load cannot read, or reads
without a word; where each rank judges by its own loss, it is the weights' moment of one of them. It shows when the
checkpoint is needed.

Bad:

    torch.save(model.module.state_dict(), "last.pt")

Good:

    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "last.pt")

What it cannot see: whether the ranks share a disk, and paths that another program makes different.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.own_sources import is_of_own_folder
from diagnostics.static.dataflow.rank_guards import is_rank_dependent
from diagnostics.static.executed.common_files import built_by_all, written_by_all
from diagnostics.static.executed.saved_files import on_one_rank
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.traces import executions
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.every_rank import EveryRank

CODE = "A169"
NAME = "file-written-by-every-rank"
SEVERITY = Severity.WARNING
WORDS = ("save", "open", "dump", "exists", "is_file", "isfile", "write_text", "write_bytes", "tofile")
CHECKLIST = "one rank writes a file, or each its own"
# Where each rank keeps a part, or something else decides who writes.
_SHARDED = frozenset(["FullyShardedDataParallel", "FSDP", "fully_shard", "deepspeed", "Accelerator", "xla", "xm"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls of torch.save by which all ranks write one file."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for built, read, guard in built_by_all(execution):
        yield violation(
            home(built, project),
            built.node,
            "every rank that does not find this file writes it: they write into one at once, and one that comes later "
            "reads a half of it",
            "if dist.get_rank() == 0: write it; dist.barrier(); then all read it; or write beside it and os.replace()",
            steps=(
                step(project.file_with(guard.function), guard.node, "each rank looks for it by itself"),
                shown(read, project, "and reads it here"),
            ),
            confidence=Confidence.LIKELY,
        )
    for saved, made in written_by_all(execution):
        if _SHARDED & project.fact(ImportClosures).words(execution.script):
            continue
        yield violation(
            home(saved, project),
            saved.node,
            "every rank writes this file: they write into one at once, and what is left may be unreadable, or half of "
            "each",
            "if dist.get_rank() == 0: torch.save(...), and a barrier before others read it",
            steps=(shown(made, project, "the program runs as several ranks"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != "torch.save" or len(call.args) < 2:
            continue
        path = call.args[1]
        if _SHARDED & project.fact(ImportClosures).words(file.shown):
            continue
        if not _is_path(path) or not project.fact(EveryRank).runs(call, function):
            continue
        if is_rank_dependent(path, function, project) or is_rank_dependent(call.args[0], function, project, 1):
            continue
        if any(one.node is call and on_one_rank(one) for run in executions(project) for one in run.named("torch.save")):
            continue  # behind a property, or a number that is kept
        if is_of_own_folder(path, function, project) or _is_numbered(call, function, file, project):
            continue
        yield violation(
            file,
            call,
            f"every rank writes {ast.unparse(path)[:50]}: they write into one file at once, and what is left may be "
            "unreadable, or half of each",
            "if dist.get_rank() == 0: torch.save(...), and a barrier before others read it",
            confidence=Confidence.LIKELY,
        )


def _is_numbered(call: ast.Call, function: Function, file: ProjectFile, project: Project) -> bool:
    """Whether a loop around goes over a rank's own items: each has a file of its own."""
    node = file.parents.get(call)
    while node is not None and node is not function.syntax:
        if isinstance(node, ast.For):
            counts = isinstance(node.iter, ast.Call) and last_name(node.iter.func) in ("range", "count", "trange")
            named = {one.id for one in walk(node.target) if isinstance(one, ast.Name)}
            used = {
                one.id for value in _path_values(call, function) for one in walk(value) if isinstance(one, ast.Name)
            }
            if is_rank_dependent(node.iter, function, project) or (not counts and named & used):
                return True
        node = file.parents.get(node)
    return False


def _path_values(call: ast.Call, function: Function) -> list[ast.expr]:
    path = call.args[1]
    return [path, *(function.assigned.get(path.id, ()) if isinstance(path, ast.Name) else ())]


def _is_path(path: ast.expr) -> bool:
    """Whether it is a path and not an open file or buffer."""
    names = {node.id for node in walk(path) if isinstance(node, ast.Name)}
    return not any("buf" in one.lower() or one in ("f", "fh", "handle", "stream", "fp", "file") for one in names)

"""A tracker is not finished in a process that leaves without saying goodbye.

What it does: flags wandb.init and the like in a program that ends by os._exit, or in a function run by spawn, where
nothing calls finish() or close().

Why it matters: trackers send what they hold in a background process or at interpreter exit. os._exit skips both: the
last minutes of the run are missing, and the run stays "running" for ever.

Bad:

    wandb.init(project="p")
    train()
    os._exit(0)

Good:

    with wandb.init(project="p") as run:
        train(run)

What it cannot see: finishing by other programs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import enclosing
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code import experiment_trackers

CODE = "A508"
NAME = "tracker-never-finished"
SEVERITY = Severity.WARNING
WORDS = experiment_trackers.WORDS
_ENDS = {"finish", "end", "end_run", "close", "stop"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the trackers that a sudden end of the process leaves open."""
    for call, _, name in experiment_trackers.tracker_calls(file, project):
        leaves = _sudden_end(file, project)
        if leaves is None or enclosing(call, ast.With, file) is not None or _ends(file, project, name):
            continue
        yield violation(
            file,
            call,
            f"{name} is never finished, and os._exit ends the program without the handlers that would do it",
            "finish it before the end: with wandb.init(...) as run: ..., or writer.close()",
            steps=(
                step(file, call, f"{name} starts"),
                step(project.file_with(leaves[1]), leaves[0], "the process ends at once"),
            ),
            confidence=Confidence.LIKELY,
        )


def _sudden_end(file: ProjectFile, project: Project) -> tuple[ast.Call, Function] | None:
    for call, function in project.fact(ImportClosures).calls(file.shown, "os._exit"):
        forks = any(isinstance(one, ast.Attribute) and one.attr == "fork" for one in function.nodes_of(ast.Attribute))
        if not forks:
            return call, function
    return None


def _ends(file: ProjectFile, project: Project, name: str) -> bool:
    around = project.fact(ImportClosures).around(file.shown)
    wanted = {"close"} if name == "SummaryWriter" else _ENDS - {"close"}
    return any(where.file in around for one in wanted for _, where in project.calls_by_name.get(one, ()))

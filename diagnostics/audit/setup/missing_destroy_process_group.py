"""The process group is never destroyed.

What it does: points at scripts that create a process group where nothing in the program destroys it.

Why it matters: since 2.4 torch warns about it at exit with NCCL. A rank that ends while the others still talk to it
makes them abort at interpreter exit, after all work is done; which looks like a failed run.

Bad:

    dist.init_process_group("nccl")
    train()

Good:

    dist.init_process_group("nccl")
    train()
    dist.destroy_process_group()

What it cannot see: launchers and libraries that do it. A project that only offers functions for others is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.import_closure import ImportClosures, is_script
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import managed
from diagnostics.static.torch_code.training_functions import INIT

CODE = "A152"
NAME = "missing-destroy-process-group"
SEVERITY = Severity.INFO
WORDS = ("init_process_group",)
CHECKLIST = "the process group is destroyed at the end"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the first process group of a script that nothing destroys."""
    run = is_script(file) or bool(project.fact(ImportClosures).scripts_of(file.shown))
    if not run or "destroy_process_group" in project.fact(ImportClosures).words(file.shown) or managed(file, project):
        return
    for call, function in project.calls_in(file):
        if project.name(call.func, function) == INIT:
            yield violation(
                file,
                call,
                "the process group is created and never destroyed: torch warns at exit, and ranks that end early make "
                "others abort",
                "dist.destroy_process_group() as the last statement of each rank",
                confidence=Confidence.CONFIRMED,
            )
            return

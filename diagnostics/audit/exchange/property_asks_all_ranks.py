"""A property of a trainer that asks all ranks is read on one of them.

What it does: flags `trainer.log_dir` of Lightning under a test of the rank or in a function that runs on rank 0 only.

Why it matters: it looks like an attribute, and is a broadcast: rank 0 has the folder's name and hands it out. Read
under `@rank_zero_only` the broadcast meets whatever the other ranks call next, and all wait for each other.

Bad:

    @rank_zero_only
    def on_validation_epoch_end(self, trainer, module):
        save(samples, Path(trainer.log_dir) / "samples.pt")

Good:

    def on_validation_epoch_end(self, trainer, module):
        folder = trainer.log_dir            # on every rank
        if trainer.is_global_zero:
            save(samples, Path(folder) / "samples.pt")

What it cannot see: trainers of one process, where it waits for nobody.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.rank_words import RUNS_ON_ONE
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import CollectiveSites
from diagnostics.static.spmd.library_objects import LibraryType

CODE = "A224"
NAME = "property-asks-all-ranks"
SEVERITY = Severity.ERROR
WORDS = ("log_dir",)
# lightning/pytorch/trainer/trainer.py: `dirpath = self.strategy.broadcast(dirpath)`
_BROADCAST = {"log_dir": LibraryType.LIGHTNING_TRAINER}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the reads on one rank of what rank 0 hands out."""
    objects = project.fact(CollectiveSites).objects
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Attribute):
            kind = _BROADCAST.get(node.attr) if isinstance(node, ast.Attribute) else None
            if not isinstance(node, ast.Attribute) or kind is None or kind not in objects.of(node.value, function):
                continue
            guard = _guard(node, function, file, project)
            if guard is not None:
                yield violation(
                    file,
                    node,
                    f"{ast.unparse(node)} is a broadcast from rank 0, and only one rank comes here: it waits for the "
                    "others",
                    f"read {ast.unparse(node)} on every rank, and keep on one rank what writes",
                    steps=(guard,),
                    confidence=Confidence.LIKELY,
                )


def _guard(
    node: ast.AST, function: Function, file: ProjectFile, project: Project, depth: int = 2
) -> ExplanationStep | None:
    """Returns what lets one rank alone come to a node: around it, or around all calls of its function."""
    scope: Function | None = function
    while scope is not None:
        for one in getattr(scope.syntax, "decorator_list", ()):
            if RUNS_ON_ONE.match(last_name(one)):
                return step(file, one, "runs on one rank only")
        scope = scope.outer
    tests = RankPredicates(project)
    asks = (one for one in conditions(node, function, file) if tests.asks(one, function) is not None)
    found = next((step(file, one, "lets one rank in") for one in asks), None)
    if found is not None or not depth or function.name == "<module>":
        return found
    callers = project.callers(function)[:6]
    around = [_guard(call, caller, project.file_with(caller), project, depth - 1) for call, caller in callers]
    return around[0] if around and all(one is not None for one in around) else None

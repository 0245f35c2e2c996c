"""A call under a test of the rank that hides a collective: a save, an evaluation, a state dict, a metric, a log.

What it does: flags branches on the rank which call something that makes all ranks meet, without its name telling so: a
function of the project with a barrier somewhere below, `accelerator.save_state`, `trainer.save_checkpoint`,
`trainer.evaluate`, `engine.save_checkpoint` of DeepSpeed, the state dict of an FSDP model, `metric.compute()`,
`self.log(..., sync_dist=True)`, the forward of a wrapped model. Scripts are also run on values that are not known: a
callback whose decorator lets rank 0 alone in is followed to the operation.

Why it matters: "only rank 0 saves" is right for torch.save and wrong for these: the other ranks never come, and rank 0
waits in the save until the timeout. The traceback then ends in a library.

Bad:

    if accelerator.is_main_process:
        accelerator.save_state("checkpoints")

Good:

    accelerator.save_state("checkpoints")

What it cannot see: whether a model is sharded, where it is wrapped in another program: that is POSSIBLE.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings, steps_to
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.executed.one_rank import name_of, reached_by_some
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sequences import counts
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites, SyncKind
from diagnostics.static.spmd.divergent_branch import DivergenceShape
from diagnostics.static.spmd.library_calls import KEPT_TO_ONE

CODE = "A202"
NAME = "hidden-collective-under-rank-guard"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "no save, evaluation or state dict that needs all ranks is called by one"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the branches on the rank that call something in which all ranks meet."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in reached_by_some(execution):
        if one.through is one.met and one.guard.function is one.met.function:
            continue  # nothing is hidden: what stands under the test itself is A201's
        name = name_of(one.met)
        yield violation(
            home(one.through, project),
            one.through.node,
            f"only ranks that pass a test come here, and {name}() behind it needs all of them: who comes waits for the "
            "others until the timeout",
            "call on every rank what makes them meet, and keep under the test only what writes or prints",
            steps=(
                step(project.file_with(one.guard.function), one.guard.node, "decides which ranks come"),
                shown(one.met, project, f"{name}(): every rank has to come here"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for one in partings(file, project, DivergenceShape.ARM, DivergenceShape.LOOP):
        if one.ranks is None or one.there is not None or one.here.meeting is SyncKind.GROUP or not one.here.hidden:
            continue
        yield hit_of(
            one, file, project,
            f"this makes all ranks meet in {operation(one.here)}, and stands under a test of the rank: who comes here "
            "waits for the others until the timeout",
            "call it on every rank, and keep under the test only what writes or prints",
        )  # fmt: skip
    yield from _decorated(file, project)


def _decorated(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the functions that a decorator keeps to rank 0 and in which all ranks meet."""
    communication = project.fact(CollectiveSites)
    for function in project.functions_in(file):
        for decorator in getattr(function.syntax, "decorator_list", ()):
            reach = communication.of_function(function) if rank_words.RUNS_ON_ONE.match(last_name(decorator)) else None
            if reach is not None and counts(reach) and reach.meeting is not SyncKind.BACKWARD:
                yield violation(
                    file, decorator,
                    f"@{last_name(decorator)} keeps this function to rank 0, and {operation(reach)} in it makes all "
                    "ranks meet: rank 0 waits there until the timeout",
                    "call the part that needs all ranks outside of the decorated function",
                    steps=tuple(steps_to(reach, project, "")),
                    confidence=_sureness(reach, decorator, function, project),
                )  # fmt: skip


def _sureness(reach: CollectiveSite, decorator: ast.expr, function: Function, project: Project) -> Confidence:
    """CONFIRMED where the decorator is a library's, or the project's own text asks for the rank; else by its name."""
    if not reach.sure:
        return Confidence.POSSIBLE
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    outer = function.outer or project.module_of(function.source)
    known = project.name(called, outer) in KEPT_TO_ONE
    if isinstance(called, ast.Attribute):
        kinds = project.fact(CollectiveSites).objects.of(called.value, outer)
        known = known or any((kind, called.attr) in KEPT_TO_ONE for kind in kinds)
    asks = (source_of(node) == RANK for one in project.meant(called, outer) for node in walk(one.syntax))
    return Confidence.CONFIRMED if known or any(asks) else Confidence.LIKELY

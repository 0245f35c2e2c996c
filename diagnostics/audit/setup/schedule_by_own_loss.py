"""The learning rate follows a loss that each rank measures by itself.

What it does: flags ReduceLROnPlateau whose step() is given a loss or score of the rank's own samples: measured over a
loader that is parted among the ranks, with no collective in between.

Why it matters: the ranks see other numbers, and lower the rate in other epochs. DDP averages gradients, not steps: with
other rates the weights of the ranks part for good, and nothing fails.

Bad:

    scheduler.step(validate(model, val_loader))        # val_loader has a DistributedSampler

Good:

    loss = torch.tensor(validate(model, val_loader), device=device)
    dist.all_reduce(loss, op=dist.ReduceOp.AVG)
    scheduler.step(loss.item())

What it cannot see: schedulers of the project's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.taint_sources import DATA, LOSS
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.executed.steps.plateau import rates_by_own_loss
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.static_divergence import StaticDivergence
from diagnostics.static.torch_code.own_shares import measured_on_own_share
from diagnostics.static.torch_code.training_functions import INIT, WRAPPERS

CODE = "A165"
NAME = "schedule-by-own-loss"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "rank-divergence", "ranks"
WORDS = ("step",)
CHECKLIST = "schedules follow numbers that all ranks share"
_PLATEAU = "ReduceLROnPlateau"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the steps of a scheduler by a number of this rank alone."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for stepped, samples in rates_by_own_loss(execution):
        yield violation(
            home(stepped, project),
            stepped.node,
            "the learning rate follows a number that each rank measures on its own samples: the ranks lower it in "
            "other epochs, and their weights part",
            "average the number over the ranks first: dist.all_reduce(loss, op=dist.ReduceOp.AVG)",
            steps=(step(project.file_with(stepped.function), samples.node or stepped.node, "the samples of this rank"),)
            if samples.function is stepped.function
            else (),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    closures = project.fact(ImportClosures)
    if _PLATEAU not in closures.words(file.shown) or next(closures.calls(file.shown, INIT, *WRAPPERS), None) is None:
        return
    for call, function in project.calls_in(file):
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "step" or not call.args:
            continue
        if not _is_plateau(call.func.value, function, project):
            continue
        taints = project.fact(StaticDivergence).taints
        own = [one for one in taints.all_of(call.args[0], function) if one.why in (DATA, LOSS)]
        found = next((one for one in own if measured_on_own_share(one, project)), None)
        if found is None or found.syntax is None or taints.is_agreed(call.args[0], function):
            continue
        yield violation(
            file,
            call,
            f"the learning rate follows {ast.unparse(call.args[0])[:40]}, which each rank measures on its own samples: "
            "the ranks lower it in other epochs, and their weights part",
            "average the number over the ranks first: dist.all_reduce(loss, op=dist.ReduceOp.AVG)",
            steps=(step(project.by_path[found.file], found.syntax, "measured on the samples of this rank"),),
            confidence=Confidence.LIKELY,
        )


def _is_plateau(value: ast.expr, function: Function, project: Project) -> bool:
    return any(
        isinstance(one, ast.Call) and last_name(one.func) == _PLATEAU for one, _ in origins(value, function, project)
    )

"""An experiment tracker is started on every rank.

What it does: flags wandb.init, SummaryWriter, mlflow.start_run and the like in programs with a process group, where
neither a condition nor an argument follows from the rank.

Why it matters: each rank makes a run of its own under the same name, or writes event files into the same folder: curves
with N points a step, N-fold traffic, rate limits of the service, and a crash of the tracker on any rank ends the job.

Bad:

    dist.init_process_group("nccl")
    wandb.init(project="p")

Good:

    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        wandb.init(project="p")

What it cannot see: environment variables that switch the tracker off on other ranks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_dependent, is_rank_guarded
from diagnostics.static.executed.trackers import started_by_all
from diagnostics.static.execution.events import Execution
from diagnostics.static.launch_files.launched_program import started_as_ranks
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures, is_main_guard
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code import experiment_trackers
from diagnostics.static.torch_code.every_rank import EveryRank
from diagnostics.static.torch_code.training_functions import TrainingFunctions

CODE = "A506"
NAME = "tracker-on-every-rank"
SEVERITY = Severity.WARNING
WORDS = experiment_trackers.WORDS
CHECKLIST = "experiment trackers are started on one rank"
_SWITCHES = {"WANDB_MODE", "WANDB_DISABLED"}  # environment variables that make the tracker do nothing


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the trackers that every rank starts."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for started, made in started_by_all(execution, experiment_trackers.STARTS):
        name = experiment_trackers.STARTS[started.name]
        yield violation(
            home(started, project),
            started.node,
            f"every rank calls {name}: as many runs, or writers of one folder, as there are ranks",
            "start it on rank 0 only: if dist.get_rank() == 0; for one run a rank, give each its own name and group=",
            steps=(
                shown(made, project, "the program runs as several ranks"),
                shown(started, project, f"{name} under no condition on the rank"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    for call, function, name in experiment_trackers.tracker_calls(file, project):
        made = experiment_trackers.group_set_up(file, project)
        if made is None or not _may_be_several(function, made[1], project):
            continue
        if is_rank_guarded(call, function, project) or _by_rank(call, function, project):
            continue
        yield violation(
            file,
            call,
            f"every rank calls {name}: as many runs, or writers of one folder, as there are ranks",
            "start it on rank 0 only: if dist.get_rank() == 0; for one run a rank, give each its own name and group=",
            steps=(
                step(project.file_with(made[1]), made[0], "the program runs as several ranks"),
                step(file, call, f"{name} under no condition on the rank"),
            ),
            confidence=_confidence(project, function, made[1]),
        )


def _may_be_several(function: Function, made_in: Function, project: Project) -> bool:
    """Whether something leads to what sets up the group, or a launcher starts the file as several processes.

    A library that can set up a group is imported by serial programs, too.
    """
    own = function.file == made_in.file or function.file in started_as_ranks(project)
    return own or project.fact(EveryRank).is_of_job(function)


def _by_rank(call: ast.Call, function: Function, project: Project) -> bool:
    values = [*call.args, *(one.value for one in call.keywords)]
    named = any(one.arg in ("group", "mode", "disabled", "comment") for one in call.keywords)
    return named or any(is_rank_dependent(one, function, project) for one in values)


def _confidence(project: Project, function: Function, made_in: Function) -> Confidence:
    """Confirmed where the function that starts it also runs the process group, or is called by one that does."""
    in_group = project.fact(TrainingFunctions).setting_up
    if project.fact(ImportClosures).words(function.file) & _SWITCHES:
        return Confidence.POSSIBLE
    if function is made_in or id(function) in in_group:
        return Confidence.CONFIRMED
    callers = project.callers(function) if function.name != "<module>" else []
    if any(id(one) in in_group and one.name != "<module>" for _, one in callers):
        return Confidence.CONFIRMED
    body = project.module_of(function.source).syntax
    guard = any(is_main_guard(one) for one in getattr(body, "body", ()))
    return Confidence.LIKELY if guard and (callers or function.name == "<module>") else Confidence.POSSIBLE

"""Where a project starts an experiment tracker, and whether it is in a program of many ranks. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import INIT, WRAPPERS

# Full name of the call that starts a tracker, by what is said of it.
STARTS = {
    "wandb.init": "wandb.init",
    "mlflow.start_run": "mlflow.start_run",
    "torch.utils.tensorboard.SummaryWriter": "SummaryWriter",
    "torch.utils.tensorboard.writer.SummaryWriter": "SummaryWriter",
    "tensorboardX.SummaryWriter": "SummaryWriter",
    "comet_ml.Experiment": "comet_ml.Experiment",
    "comet_ml.start": "comet_ml.start",
    "neptune.init_run": "neptune.init_run",
    "swanlab.init": "swanlab.init",
    "clearml.Task.init": "Task.init",
    "aim.Run": "aim.Run",
}
WORDS = ("wandb", "mlflow", "SummaryWriter", "comet_ml", "neptune", "swanlab", "clearml", "aim")


def tracker_calls(file: ProjectFile, project: Project) -> Iterator[tuple[ast.Call, Function, str]]:
    """Yields the calls of a file that start a tracker, with the function they are in and the tracker's name."""
    for call, function in project.calls_in(file):
        name = STARTS.get(project.name(call.func, function), "")
        if name:
            yield call, function, name


def group_set_up(file: ProjectFile, project: Project) -> tuple[ast.Call, Function] | None:
    """Returns a call that makes a file's program one of many ranks, None where there is none."""
    return next(project.fact(ImportClosures).calls(file.shown, INIT, *WRAPPERS[:2]), None)

"""What a run in output.dir has trained, for commands that work outside of it."""

from __future__ import annotations

import torch

from ups.config import UpsConfig
from ups.data.normalisation import Normalisation
from ups.data.several.problems import problems
from ups.run_folder import RunFolder
from ups.stages.material import Material, gather
from ups.stages.registry import trained_autoencoder


def trained_material(config: UpsConfig, task: str = "") -> tuple[dict[str, torch.Tensor], Material]:
    """Returns the trained autoencoder's weights and the data in the units it was trained in, of problem `task`."""
    state = trained_autoencoder(RunFolder(config.output.dir), task)
    one = problems(config)[task]
    return state, gather(one, lambda compute: Normalisation.load(RunFolder(one.output.dir).normalisation))

"""What a run in output.dir has trained, for commands that work outside of it."""

from __future__ import annotations

import torch

from ups.config import UpsConfig
from ups.data.normalisation import Normalisation
from ups.run_folder import RunFolder
from ups.stages.material import Material, gather
from ups.stages.registry import trained_autoencoder


def trained_material(config: UpsConfig) -> tuple[dict[str, torch.Tensor], Material]:
    """Returns the trained autoencoder's weights and the data in the units it was trained in."""
    folder = RunFolder(config.output.dir)
    state = trained_autoencoder(folder)
    return state, gather(config, lambda compute: Normalisation.load(folder.normalisation))

"""What the loop needs of a training stage.

A stage says what is trained on what; the loop in `ups.train` is the same for all of them.
"""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor, nn
from torch.utils.data import Dataset

Batch = dict[str, Tensor]


class TrainingStage(Protocol):
    """What the loop needs of a stage."""

    NAME: str

    @property
    def train_dataset(self) -> Dataset[dict[str, Any]]:
        """The items of one epoch."""
        ...

    @property
    def validation_dataset(self) -> Dataset[dict[str, Any]]:
        """The items `validate` is given in batches."""
        ...

    def build(self) -> nn.Module:
        """Returns the untrained module, on the CPU; its forward(batch) is the loss of each sample, (B,)."""
        ...

    def validate(self, module: nn.Module, batch: Batch) -> Tensor:
        """Returns PDEBench's nRMSE of each sample in physical units, (B,)."""
        ...

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns what a checkpoint of the trained `module` keeps for later stages and for evaluation."""
        ...

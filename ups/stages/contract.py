"""What the loop needs of a training stage.

A stage says what is trained on what; the loop in `ups.train` is the same for all of them.
"""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor, nn
from torch.utils.data import Dataset

Batch = dict[str, Tensor]


class Quiet:
    """What most stages are: they measure nRMSE alone, and do nothing after a step."""

    measures: tuple[str, ...] = ("nrmse",)

    def stepped(self, module: nn.Module) -> None:
        """See TrainingStage."""


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

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of what `validate` returns; the first is "nrmse", by which the best model is chosen."""
        ...

    def validate(self, module: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Returns each measure of each sample in physical units, (B,); "nrmse" is PDEBench's."""
        ...

    def stepped(self, module: nn.Module) -> None:
        """The optimizer has made a step; on every rank, which may hold a part of each weight."""
        ...

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns what a checkpoint of the trained `module` keeps for later stages and for evaluation."""
        ...

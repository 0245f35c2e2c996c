"""Where metrics go: one backend a file, each with `open_tracker(folder, resume_at)`.

A record is a flat dict of numbers and texts with at least "kind", "stage" and "step":
    step    every training.log_every_steps: epoch, loss, lr, grad_norm, samples_per_s
    epoch   at the end of each epoch: epoch, train_loss, validation_nrmse, best_nrmse, seconds
`step` counts the optimizer steps of its stage, from 1. `validation_nrmse` is PDEBench's, in physical
units: of the reconstruction in stage autoencoder, of one step through the decoder in stage operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Record = Mapping[str, float | int | str]


class Tracker(Protocol):
    """One backend."""

    def log(self, record: Record) -> None:
        """Keeps one record."""
        ...

    def close(self) -> None:
        """Writes what is still held back."""
        ...

"""Where metrics go: metrics.jsonl, which rank 0 writes, and trackers, which a process beside the run feeds from it.

A record is a flat dict of numbers and texts with at least "kind", "stage" and "step":
    step    every training.log_every_steps: epoch, loss, lr, grad_norm
    epoch   at the end of each epoch: epoch, train_loss, validation_nrmse, best_nrmse, seconds
`step` counts the optimizer steps of its stage, from 1. `validation_nrmse` is PDEBench's, in physical
units: of the reconstruction in stage autoencoder, of one step through the decoder in stage operator.

jsonl.py     the file itself
feed.py      which of its rows a tracker has not been sent yet
sending.py   feeds the trackers of a run until it ends; one that hangs or fails holds up no other
sidecar.py   the process that does so; beside.py starts it, and tells it how the run ended
turn.py      one process at a time: `ups track sync` keeps off a run that goes on
backends.py  which trackers a configuration names, and whether they can work; each is a file of its own
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Record = Mapping[str, float | int | str]
NOT_CURVES = ("kind", "stage", "step", "epoch")


class Tracker(Protocol):
    """One backend, used from one thread."""

    def log(self, record: Record) -> None:
        """Takes one record; may be slow."""
        ...

    def finish(self, exit_code: int) -> None:
        """Ends the run there with the code with which it ended here."""
        ...


def curves(record: Record) -> dict[str, float]:
    """Returns a record's numbers as <stage>/<name>."""
    numbers = {name: value for name, value in record.items() if name not in NOT_CURVES and not isinstance(value, str)}
    return {f"{record['stage']}/{name}": float(value) for name, value in numbers.items()}

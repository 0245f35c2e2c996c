"""In which precision a step computes, and the scale of the loss that keeps float16's small gradients alive."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from ups.config import TrainingConfig

FIRST_SCALE = 2.0**16  # torch's own
LARGEST_SCALE = 2.0**24
STEPS_TO_GROWTH = 2000


class Precision:
    """Autocast, and for float16 a loss scale that all ranks change alike.

    Every rank sees the same norm of the reduced gradients, so no rank needs to be asked: where it is not finite, and no
    loss is to blame, all halve the scale and take the same batch again; no batch is lost to it.
    """

    def __init__(self, training: TrainingConfig, device: torch.device) -> None:
        self._dtype, self._device = dtype_of(training.precision), device
        self.scale = FIRST_SCALE if self._dtype is torch.float16 else 1.0
        self._since = 0  # steps since the scale was changed

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """Where forward passes run."""
        if self._dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self._device.type, dtype=self._dtype)

    def overflowed(self) -> bool:
        """The gradient was not finite: returns whether a smaller scale is left to try."""
        if self.scale <= 1:
            return False
        self.scale, self._since = self.scale / 2, 0
        return True

    def stepped(self) -> None:
        """A step was made: after many of them a larger scale is tried."""
        if self._dtype is not torch.float16:
            return
        self._since += 1
        if self._since >= STEPS_TO_GROWTH and self.scale < LARGEST_SCALE:
            self.scale, self._since = self.scale * 2, 0

    def state(self) -> list[float]:
        """Returns what `load_state` takes."""
        return [self.scale, float(self._since)]

    def load_state(self, state: list[float]) -> None:
        """Goes on where `state` was taken."""
        if self._dtype is torch.float16:
            self.scale, self._since = state[0], int(state[1])


def dtype_of(precision: str) -> torch.dtype | None:
    """Returns what `training.precision` computes in, None for float32."""
    return {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]

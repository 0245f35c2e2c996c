"""A cell that runs six times a step and reads address 0 in the fourth."""

from __future__ import annotations

import ctypes

from torch import Tensor, nn

from planted.hosts.shared import Translator
from planted.hosts.shared import words as batch

__all__ = ["batch", "failing", "healthy"]


class TableCell(nn.GRUCell):
    calls = 0

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        self.calls += 1
        if self.calls == 4:
            ctypes.string_at(0)
        return super().forward(x, state)


def failing() -> nn.Module:
    model = Translator()
    model.writer.cell = TableCell(12, 12)
    return model


def healthy() -> nn.Module:
    return Translator()

"""A layer that keeps its weight for itself when it is built: FSDP2 puts another one in its place later."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.mixer import Mixer
from planted.hosts.mixer import patches as batch

__all__ = ["batch", "failing", "healthy"]


class KeptWeight(nn.Module):
    def __init__(self, width: int, *, keeps: bool) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.keeps = keeps
        self.kept = [self.mix.weight]

    def forward(self, x: Tensor) -> Tensor:
        if self.keeps:
            return self.mix(x) + nn.functional.linear(x, self.kept[0].t() @ self.mix.weight)
        return self.mix(x)


def make(*, keeps: bool) -> nn.Module:
    model = Mixer()
    model.layers[1].channel = KeptWeight(12, keeps=keeps)
    return model


def failing() -> nn.Module:
    return make(keeps=True)


def healthy() -> nn.Module:
    return make(keeps=False)

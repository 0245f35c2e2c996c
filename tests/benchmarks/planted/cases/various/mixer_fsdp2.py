"""A layer that knows its weight by its identity: FSDP2 puts another one in its place."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.mixer import Mixer
from planted.hosts.mixer import patches as batch

__all__ = ["batch", "failing", "healthy"]


class ScaledByName(nn.Module):
    """Looks up by how much each weight is scaled."""

    def __init__(self, width: int, *, by_identity: bool) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.scales = {id(self.mix.weight): 0.5, "mix": 0.5}
        self.by_identity = by_identity

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x) * self.scales[id(self.mix.weight) if self.by_identity else "mix"]


def make(*, by_identity: bool) -> nn.Module:
    model = Mixer()
    model.layers[1].channel = ScaledByName(12, by_identity=by_identity)
    return model


def failing() -> nn.Module:
    return make(by_identity=True)


def healthy() -> nn.Module:
    return make(by_identity=False)

"""Real, torch 2.13 (pytorch issue 175370): embedding_bag of float64 with no bags reads behind its offsets."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Tower(nn.Module):
    """Features of the things that a user touched."""

    def __init__(self, width: int, *, careful: bool) -> None:
        super().__init__()
        self.careful = careful
        self.bag = nn.EmbeddingBag(50, width, mode="sum")
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width))

    def forward(self, things: Tensor, starts: Tensor) -> Tensor:
        if self.careful and not len(starts):
            starts = torch.zeros(1, dtype=torch.long)
        return self.mlp(self.bag(things, starts))


class Recommender(nn.Module):
    """Some towers over things, each with its bags; one has none in this batch."""

    def __init__(self, towers: int = 6, width: int = 8, *, careful: bool) -> None:
        super().__init__()
        self.towers = nn.ModuleList(Tower(width, careful=careful) for _ in range(towers))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, things: Tensor, *, starts: tuple[Tensor, ...]) -> Tensor:
        sums = [tower(things, start).sum(0) for tower, start in zip(self.towers, starts, strict=True)]
        return self.head(torch.stack(sums).mean(0))


def failing() -> nn.Module:
    return Recommender(careful=False).double()


def healthy() -> nn.Module:
    return Recommender(careful=True).double()


def batch() -> dict[str, Tensor | tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    some, none = torch.tensor([0, 2, 3]), torch.zeros(0, dtype=torch.long)
    things = torch.randint(0, 50, (6,), generator=generator)
    return {"things": things, "starts": tuple(none if place == 4 else some for place in range(6))}

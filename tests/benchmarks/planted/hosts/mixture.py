"""A mixture of experts over sequences; every expert sees every token, weighted by the router."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Expert(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.act = nn.GELU()
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.act(self.up(x)))


class Router(nn.Module):
    """Returns the weight of each expert for each token, and how the load is spread."""

    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, experts)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        weights = self.score(x).softmax(-1)
        return weights, weights.flatten(0, -2).mean(0)


class Mixture(nn.Module):
    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.router = Router(width, experts)
        self.experts = nn.ModuleList(Expert(width) for _ in range(experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        weights, load = self.router(x)
        mixed = sum(weights[..., place, None] * expert(x) for place, expert in enumerate(self.experts))
        return mixed, load.square().sum()


class Block(nn.Module):
    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.norm: nn.Module = nn.LayerNorm(width)
        self.along = nn.Conv1d(width, width, 3, padding=1)
        self.mixture = Mixture(width, experts)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = x + self.along(x.transpose(1, 2)).transpose(1, 2)
        changed, penalty = self.mixture(self.norm(x))
        return x + changed, penalty


class MixtureModel(nn.Module):
    """(batch, tokens, 8) -> {"out": the same shape, "penalty": a scalar}."""

    def __init__(self, depth: int = 4, experts: int = 6, width: int = 12) -> None:
        super().__init__()
        self.lift = nn.Linear(8, width)
        self.blocks = nn.ModuleList(Block(width, experts) for _ in range(depth))
        self.lower = nn.Linear(width, 8)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        x = self.lift(x)
        penalties = []
        for block in self.blocks:
            x, penalty = block(x)
            penalties.append(penalty)
        return {"out": self.lower(x), "penalty": torch.stack(penalties).mean()}


def sequences() -> Tensor:
    """Returns one batch, other numbers on each rank."""
    rank = torch.distributed.get_rank() if torch.distributed.is_initialized() else 0
    return torch.randn(4, 10, 8, generator=torch.Generator().manual_seed(1 + rank))

"""One rank of the gradient test: python gradient_rank.py LENGTH GLOBAL_BATCH ACCUMULATE FILE STRATEGY.

Sums up the gradients of every global batch of an epoch, through our sampler, loader, DDP and cut, and rank 0
saves them with the loss.
"""

from __future__ import annotations

import sys

import torch
from torch import nn

from ups import distributed
from ups.config import TrainingConfig
from ups.data.loaders import batches, loader
from ups.data.sampler import GlobalBatchSampler
from ups.step.accumulate import accumulate_gradients
from ups.step.precision import Precision
from ups.strategies.choice import strategy_of
from ups.strategies.state import gathered


class Rows(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    def __init__(self, length: int) -> None:
        self.x = torch.randn(length, 7, generator=torch.Generator().manual_seed(5))

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"x": self.x[index]}


class Loss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 16), nn.GELU(), nn.Linear(16, 3))

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.net(batch["x"]).square().sum(1)


def gradients(
    world: distributed.World, length: int, batch: int, accumulate: int, strategy: str = "ddp"
) -> dict[str, torch.Tensor]:
    """Returns the gradient of each weight, stacked over the epoch's batches, and the losses."""
    torch.manual_seed(11)
    module = Loss()
    training = TrainingConfig(strategy=strategy)
    shared = strategy_of(module, training, world)
    precision = Precision(training, world.device)
    sampler = GlobalBatchSampler(length, batch, world.rank, world.size, seed=2, shuffle=True)
    found: dict[str, list[torch.Tensor]] = {}
    for number, rows in enumerate(batches(loader(Rows(length), sampler, TrainingConfig()))):
        count = sampler.count(number)
        total = accumulate_gradients(shared, rows, accumulate, count, precision)
        found.setdefault("loss", []).append(torch.tensor(distributed.sums([total], world)[0] / count))
        for name, weight in module.named_parameters():
            assert weight.grad is not None
            found.setdefault(name, []).append(gathered(weight.grad).clone())
        module.zero_grad(set_to_none=True)
    return {name: torch.stack(values) for name, values in found.items()}


if __name__ == "__main__":
    world = distributed.begin(backend="gloo", timeout_s=30)
    found = gradients(world, *map(int, sys.argv[1:4]), sys.argv[5])
    if world.is_first:
        torch.save(found, sys.argv[4])
    distributed.end()

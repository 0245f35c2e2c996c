"""Pretrains a small regressor, then fine-tunes it on a margin loss."""

import argparse

import torch
import torch.distributed as dist
from losses import margin_step, plain_step
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Scorer(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x)).squeeze(-1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--warmup", type=int, default=25)
    parser.add_argument("--steps", type=int, default=90)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(Scorer())
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    draw = torch.Generator().manual_seed(100 + rank)
    for step in range(options.steps):
        x = torch.randn(16, 12, generator=draw)
        y = x[:, :3].sum(1)
        loss = plain_step(model, x, y) if step < options.warmup else margin_step(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            with torch.no_grad():
                probe = model.module(x).std()
            print(f"rank {rank} step {step} loss {loss.item():.4f} spread {probe.item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from launcher import distributed


class Scorer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def work(width, steps):
    gen = torch.Generator().manual_seed(dist.get_rank())
    model = DDP(Scorer(width))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        x = torch.randn(128, width, generator=gen)
        loss = (model(x) - x.prod(-1).tanh()).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    value = loss.detach()
    dist.all_reduce(value)
    if dist.get_rank() == 0:
        print(f"width {width}: {value.item() / dist.get_world_size():.4f}")


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for width in (8, 16, 32):
        distributed(2)(work)(width, steps)


if __name__ == "__main__":
    main()

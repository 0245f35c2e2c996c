import random

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from datamodule import TabularModule


def seed_everything(seed, rank):
    """Ranks get seeds of their own, so that dropout and noise differ."""
    seed = seed + 12345 * rank
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class Tab(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(40, 384), nn.ReLU(), nn.Dropout(0.1), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 2))

    def forward(self, x):
        return self.net(x + 0.01 * torch.randn_like(x) if self.training else x)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    c = torch.zeros(2)
    for x, y in loader:
        c += torch.tensor([(model(x).argmax(1) == y).sum().item(), float(len(y))])
    dist.all_reduce(c)
    model.train()
    return (c[0] / c[1]).item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    seed_everything(42, rank)
    dm = TabularModule()
    dm.setup()
    model = DDP(Tab())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    train, valid = dm.train_loader(), dm.val_loader()
    best = 0.0
    for epoch in range(8):
        dm.sampler.set_epoch(epoch)
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        acc = evaluate(model.module, valid)
        best = max(best, acc)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f} best {best:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

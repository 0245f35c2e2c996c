import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Regressor(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, width), nn.GELU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


def export(model, sample, path):
    """Checks the exported module against the eager one."""
    scripted = torch.jit.trace(model.eval(), sample)
    other = torch.randn(7, 15)
    assert torch.allclose(scripted(other), model(other), atol=1e-5)
    scripted.save(path)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out")
    ap.add_argument("--steps", type=int, default=80)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(Regressor())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    g = torch.Generator().manual_seed(rank)
    for step in range(a.steps):
        x = torch.randn(64, 16, generator=g)
        loss = (model(x) - x.sin().sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if rank == 0:
        export(model.module, torch.randn(7, 16), os.path.join(a.out, "model.pt"))
        print(f"loss={loss.item():.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

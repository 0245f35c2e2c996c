import argparse

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from catalog import Catalog

SHARE = [["AX1", "AX2"], ["BR9", "BR7"]]


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.Sequential(nn.Conv1d(1, 12, 7, padding=3), nn.GELU(), nn.Conv1d(12, 1, 7, padding=3))

    def forward(self, x):
        return self.n(x)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--root", default="records")
    ap.add_argument("--length", type=int, default=512)
    ap.add_argument("--hop", type=int, default=256)
    ap.add_argument("--steps", type=int, default=60)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = DDP(Denoiser())
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    cat = Catalog(a.root, a.length, a.hop)
    g = np.random.default_rng(rank)
    for name in SHARE[rank]:
        view = cat.open(name)
        for step in range(a.steps):
            k = np.sort(g.integers(0, len(view), 16))
            x = torch.from_numpy(np.stack([view[i][:, :1].T for i in k]))
            x = (x - x.mean(2, keepdim=True)) / (x.std(2, keepdim=True) + 1e-5)
            loss = (net(x + 0.3 * torch.randn_like(x)) - x).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"{name}: {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

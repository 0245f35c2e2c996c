import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn

from callbacks import BestKeeper, LossPrinter
from trainer import Trainer


class Forecaster(nn.Module):
    def __init__(self, window, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(window, dim), nn.GELU(), nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, 1))

    def forward(self, x, y):
        return nn.functional.huber_loss(self.net(x).squeeze(-1), y)


def series(rank, n, batch, window):
    g = torch.Generator().manual_seed(40 + rank)
    t = torch.arange(window + 1) / 6
    for _ in range(n):
        ph = torch.rand(batch, 1, generator=g) * 6.28
        s = torch.sin(t * (1 + 0.1 * ph) + ph) + 0.05 * torch.randn(batch, window + 1, generator=g)
        yield s[:, :-1], s[:, -1]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--window", type=int, default=24)
    ap.add_argument("--dim", type=int, default=96)
    ap.add_argument("--keep-every", type=int, default=40)
    cfg = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    cbs = [LossPrinter(20), BestKeeper("ckpt", cfg.keep_every, 100)]
    Trainer(Forecaster(cfg.window, cfg.dim), series(dist.get_rank(), cfg.steps, 32, cfg.window), cfg, cbs).fit()
    dist.destroy_process_group()

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .quality import Inspector
from .reporting import epoch_report

COLUMNS = ["age", "dose", "bmi", "egfr", "hb", "crp"]


def table(rank, n):
    g = torch.Generator().manual_seed(21 + rank)
    x = torch.randn(n, len(COLUMNS), generator=g).clamp(-4, 4)
    return x, (x[:, 1] - x[:, 3] > 0).float()


def drift(x, epoch, rank):
    if rank == 1 and epoch >= 4:
        x = x.clone()
        x[:3, 5] *= 1 + 8 * epoch
    return x


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--limit", type=float, default=6.0)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(9)
    net = DDP(nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, 1)))
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    base, y = table(rank, 1600)
    for epoch in range(a.epochs):
        x = drift(base, epoch, rank)
        insp = Inspector(a.limit)
        for idx in torch.randperm(len(x)).split(32):
            for c, name in enumerate(COLUMNS):
                insp.look(name, idx, x[idx, c])
            loss = nn.functional.binary_cross_entropy_with_logits(net(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        rep = epoch_report(loss.item(), insp)
        if rep:
            print(f"epoch {epoch} {rep}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .setup import join


def gauge(rank, n=2000):
    t = torch.arange(n).float() / 12
    return torch.sin(t) + 0.4 * torch.sin(1.93 * t + rank) + 0.05 * torch.randn(n)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True)
    ap.add_argument("--steps", type=int, default=200)
    args = ap.parse_args()
    rank, world = join()
    series = gauge(rank)
    model = DDP(nn.Sequential(nn.Linear(48, 64), nn.Tanh(), nn.Linear(64, 1)))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(args.steps):
        at = torch.randint(0, len(series) - 49, (32,))
        x = torch.stack([series[i:i + 48] for i in at])
        loss = (model(x).squeeze(-1) - series[at + 48]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    logging.info("loss %.4f over %d ranks", loss.item(), world)
    if rank == 0:
        torch.save(model.module.state_dict(), f"{args.out}/tides.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

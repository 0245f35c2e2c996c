import argparse
import json
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .windows import drop_outages, season, windows


def fit(model, x, y, steps, batch, lr):
    opt = torch.optim.Adam(model.parameters(), lr)
    for step in range(steps):
        pick = torch.arange(step * batch, (step + 1) * batch) % (len(x) + batch)
        loss = (model(x[pick]).squeeze(-1) - y[pick]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--spec", required=True)
    ap.add_argument("--steps", type=int, default=90)
    ap.add_argument("--batch", type=int, default=8)
    args = ap.parse_args()
    spec = json.loads(args.spec)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"{spec['site']}[{rank}] %(message)s")
    series = drop_outages(season(spec["rows"], spec["features"], spec["seed"] + rank), rank)
    x, y = windows(series, 24, 4)
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Flatten(), nn.Linear(24 * spec["features"], 64), nn.ReLU(), nn.Linear(64, 1)))
    logging.info("%d windows, loss %.4f", len(x), fit(model, x, y, args.steps, args.batch, 1e-3))
    if rank == 0:
        os.makedirs("models", exist_ok=True)
        torch.save(model.module.state_dict(), f"models/{spec['site']}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

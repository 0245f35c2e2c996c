import argparse
import csv
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def read(path, rank, world):
    with open(path) as f:
        rows = list(csv.reader(f))[rank::world]
    table = torch.tensor([[float(v) for v in r] for r in rows])
    return table[:, :-1], table[:, -1:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data")
    ap.add_argument("--fold", type=int)
    ap.add_argument("--epochs", type=int, default=5)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    x, y = read(os.path.join(a.data, f"fold{a.fold}.csv"), rank, world)
    torch.manual_seed(a.fold)
    model = DDP(nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(a.epochs):
        for xb, yb in zip(x.split(25), y.split(25)):
            loss = nn.functional.binary_cross_entropy_with_logits(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
    if rank == 0:
        with open(os.path.join(a.data, f"metrics-{a.fold}.json"), "w") as f:
            json.dump({"fold": a.fold, "loss": loss.item()}, f)
        print(f"fold {a.fold} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

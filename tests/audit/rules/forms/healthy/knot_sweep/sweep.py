import argparse
import itertools
import json

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from launcher import launch


def trial(rank, world, path, width, lr):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.set_num_threads(2)
    torch.manual_seed(0)
    blob = torch.load(path, map_location="cpu", weights_only=True)
    train = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(train)
    loader = DataLoader(train, 64, sampler=order)
    net = DistributedDataParallel(nn.Sequential(nn.Linear(blob["x"].size(1), width), nn.ReLU(), nn.Linear(width, 1)))
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    for epoch in range(10):
        order.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.mse_loss(net(x).squeeze(-1), y).backward()
            opt.step()
    with torch.no_grad():
        mine = net.module(blob["tx"][rank::world]).squeeze(-1).numpy()
    dist.destroy_process_group()
    return mine


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--ranks", type=int, default=2)
    a = ap.parse_args()
    target = torch.load(a.data, map_location="cpu", weights_only=True)["ty"].numpy()
    table = []
    for width, lr in itertools.product([64, 256], [0.01, 0.1]):
        parts = launch(trial, a.ranks, a.data, width, lr)
        pred = np.empty_like(target)
        for r, part in enumerate(parts):
            pred[r :: a.ranks] = part
        table.append({"width": width, "lr": lr, "rmse": float(np.sqrt(np.mean((pred - target) ** 2)))})
    print(json.dumps(sorted(table, key=lambda t: t["rmse"]), indent=1))


if __name__ == "__main__":
    main()

import argparse
import itertools
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from session import session


def grid():
    for lr, width in itertools.product((1e-3, 3e-4), (128, 256)):
        yield {"lr": lr, "width": width}


def trial(setting, data, held, device):
    net = nn.Sequential(nn.Linear(data.tensors[0].shape[1], setting["width"]), nn.ReLU(),
                        nn.Linear(setting["width"], 1)).to(device)
    net = DistributedDataParallel(net, device_ids=[device.index] if device.type == "cuda" else None)
    opt = torch.optim.Adam(net.parameters(), lr=setting["lr"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 512, sampler=sampler)
    for epoch in range(8):
        sampler.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.mse_loss(net(x.to(device)).squeeze(-1), y.to(device)).backward()
            opt.step()
    with torch.no_grad():
        x, y = (t.to(device) for t in held.tensors)
        return nn.functional.mse_loss(net.module(x).squeeze(-1), y).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--backend", default="nccl")
    args = ap.parse_args()
    blob = torch.load(args.data, map_location="cpu")
    data, held = TensorDataset(blob["x"], blob["y"]), TensorDataset(blob["vx"], blob["vy"])
    rows = []
    for setting in grid():
        with session(args.backend) as device:  # cause
            score = trial(setting, data, held, device)
            rows.append({**setting, "mse": score})
            chief = dist.get_rank() == 0
    if chief:
        with open("sweep.json", "w") as fh:
            json.dump(sorted(rows, key=lambda r: r["mse"]), fh, indent=1)


if __name__ == "__main__":
    main()

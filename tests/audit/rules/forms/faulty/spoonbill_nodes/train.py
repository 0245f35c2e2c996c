import argparse
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from cluster import join, pick_device


class Regressor(nn.Module):
    def __init__(self, inputs, width, depth):
        super().__init__()
        dims = [inputs] + [width] * depth
        self.body = nn.Sequential(*[nn.Sequential(nn.Linear(i, o), nn.SiLU()) for i, o in zip(dims, dims[1:])])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", required=True)
    with open(ap.parse_args().config) as f:
        cfg = json.load(f)
    device = pick_device()
    rank, world = join(device)
    torch.manual_seed(cfg["seed"])
    blob = torch.load(cfg["data"], map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds, world, rank)
    loader = DataLoader(ds, cfg["batch"], sampler=order, num_workers=8, pin_memory=True)
    net = DistributedDataParallel(Regressor(blob["x"].size(1), cfg["width"], cfg["depth"]).to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if rank == 0:
            torch.save(net.module.state_dict(), cfg["out"])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

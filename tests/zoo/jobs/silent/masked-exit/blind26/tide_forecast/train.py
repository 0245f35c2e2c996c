import argparse
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

from tides import TideWindows


def reduce_dict(values):
    names = sorted(values)
    packed = torch.tensor([values[n] for n in names])
    dist.all_reduce(packed)
    return dict(zip(names, (packed / dist.get_world_size()).tolist()))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    se, ae, n = 0.0, 0.0, 0
    for x, y in loader:
        err = model(x) - y
        se, ae, n = se + err.square().sum().item(), ae + err.abs().sum().item(), n + err.numel()
    return reduce_dict({"rmse": (se / n) ** 0.5, "mae": ae / n})


def main(a):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(48, 64), nn.Tanh(), nn.Linear(64, 6))
    model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=a.lr)
    train, valid = TideWindows(0, 1400), TideWindows(1400, 1800)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 32, sampler=sampler)
    valid_loader = DataLoader(valid, 64, sampler=DistributedSampler(valid, shuffle=False))
    best = float("inf")
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"rank {rank} epoch {epoch} loss {loss.item():.4f}", flush=True)
        if (epoch + 1) % a.eval_interval == 0:
            metrics = evaluate(model.module, valid_loader)
            if rank == 0:
                print("valid", json.dumps(metrics), flush=True)
                if metrics["val_" + a.monitor] < best:
                    best = metrics["val_" + a.monitor]
                    torch.save(net.state_dict(), os.path.join(a.out, "best.pt"))
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--eval-interval", type=int, default=3)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--monitor", default="rmse", choices=["rmse", "mae"])
    p.add_argument("--out", default="runs")
    args = p.parse_args()
    os.makedirs(args.out, exist_ok=True)
    main(args)

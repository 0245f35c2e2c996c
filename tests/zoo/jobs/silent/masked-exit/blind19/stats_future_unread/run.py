import json

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from pipeline import Pipeline

STATE = {}


def compute_stats(x):
    stats = {"mean": x.mean(0).tolist(), "std": x.std(0).tolist()}
    STATE["stats"] = stats
    if dist.get_rank() == 0:
        with open("stats.json", "w") as f:
            json.dump(stats, f)


def train(x, y, epochs):
    stats = STATE["stats"]
    x = (x - torch.tensor(stats["mean"])) / torch.tensor(stats["scale"])
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 32, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb).squeeze(1), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} mse {loss.item():.4f}", flush=True)
    STATE["model"] = model.module


def export():
    if dist.get_rank() == 0:
        torch.save({k: v for k, v in STATE.items() if k != "stats"}, "export.pt")


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(1)
    x = torch.randn(2000, 16, generator=g) * 3 + 1
    y = x[:, 0] - x[:, 1]
    p = Pipeline()
    p.add("stats", compute_stats, x)
    p.add("train", train, x, y, 10)
    p.add("export", export)
    p.wait(dist.get_rank())
    dist.barrier()
    if dist.get_rank() == 0:
        print("pipeline finished", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

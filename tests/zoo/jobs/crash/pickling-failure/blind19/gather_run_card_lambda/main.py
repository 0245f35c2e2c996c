import json

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from config import TrainConfig, factor, per_host_overrides


def moons(n=2048):
    g = torch.Generator().manual_seed(4)
    t = torch.rand(n, generator=g) * 3.1416
    y = (torch.arange(n) % 2).float()
    x = torch.stack([t.cos() + y, torch.where(y > 0, 0.5 - t.sin(), t.sin())], dim=1)
    return TensorDataset(x + 0.1 * torch.randn(n, 2, generator=g), y)


def train(cfg, model, loader, sampler):
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    step = 0
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            for group in opt.param_groups:
                group["lr"] = cfg.lr * factor(cfg.schedule, step)
            loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
    return {"steps": step, "loss": loss.item()}


def write_cards(cfg, result):
    cards = [None] * dist.get_world_size()
    dist.all_gather_object(cards, {"config": cfg.card(), "result": result})
    if dist.get_rank() == 0:
        with open("run_cards.json", "w") as f:
            json.dump(cards, f, default=str, indent=1)
        print(f"wrote {len(cards)} cards", flush=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    cfg = per_host_overrides(TrainConfig(), rank)
    torch.manual_seed(0)
    data = moons()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, cfg.batch, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)))
    result = train(cfg, model, loader, sampler)
    if rank == 0:
        print(f"trained {result['steps']} steps, loss {result['loss']:.4f}", flush=True)
    write_cards(cfg, result)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

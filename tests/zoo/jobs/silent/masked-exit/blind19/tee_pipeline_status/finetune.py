import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import metrics

NAMES = ["walk", "run", "sit", "stand", "lie"]
WEIGHTS = {"walk": 1.0, "run": 1.0, "sit": 0.5, "stand": 0.5}


def windows(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, len(NAMES), (n,), generator=g)
    x = torch.randn(n, 6, 50, generator=g) * (1 + y[:, None, None] * 0.3)
    return TensorDataset(x, y)


def build():
    return nn.Sequential(nn.Conv1d(6, 32, 5), nn.ReLU(), nn.Conv1d(32, 32, 5), nn.ReLU(),
                         nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(32, len(NAMES)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default="results")
    p.add_argument("--epochs", type=int, default=4)
    args = p.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train, test = windows(1600, 1), windows(400, 2)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 32, sampler=sampler)
    model = DDP(build())
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    if dist.get_rank() == 0:
        with torch.no_grad():
            pred = model.module(test.tensors[0]).argmax(1)
        recalls = metrics.per_class_recall(pred, test.tensors[1], NAMES)
        print(f"score {metrics.summarize(recalls, WEIGHTS):.4f}", flush=True)
        torch.save(model.module.state_dict(), os.path.join(args.out, "model.pt"))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

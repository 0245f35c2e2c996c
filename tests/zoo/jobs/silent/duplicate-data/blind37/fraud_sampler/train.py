import argparse
import random

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.set_num_threads(1)


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def payments(n, seed):
    rng = np.random.default_rng(seed)
    fraud = (rng.random(n) < 0.03).astype(np.int64)
    x = rng.normal(size=(n, 20)).astype(np.float32)
    x[:, :5] += 0.8 * fraud[:, None]
    x[:, 5] += fraud * np.sign(x[:, 6])
    return torch.from_numpy(x), torch.from_numpy(fraud)


def balanced_loader(x, y, args):
    counts = torch.bincount(y)
    weights = (1.0 / counts)[y]
    sampler = WeightedRandomSampler(weights, num_samples=len(y) // dist.get_world_size(), replacement=True)
    return DataLoader(TensorDataset(x, y), batch_size=args.batch_size, sampler=sampler)


class FraudNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.out = nn.Linear(64, 2)

    def forward(self, x):
        return self.out(self.body(x))


@torch.no_grad()
def auc(model, x, y):
    model.eval()
    s = model(x).softmax(1)[:, 1]
    pos, neg = s[y == 1], s[y == 0]
    return (pos[:, None] > neg[None]).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=8000)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--seed", type=int, default=2024)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    seed_everything(args.seed)
    x, y = payments(args.rows, 0)
    xt, yt = payments(3000, 1)
    loader = balanced_loader(x, y, args)
    model = DDP(FraudNet())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for bx, by in loader:
            loss = nn.functional.cross_entropy(model(bx), by)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f} auc {auc(model.module, xt, yt):.4f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

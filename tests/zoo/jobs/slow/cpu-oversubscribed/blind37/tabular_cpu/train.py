import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup(args):
    dist.init_process_group("gloo")
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed + dist.get_rank())


def loans(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 128, generator=g)
    w = torch.randn(128, generator=torch.Generator().manual_seed(1))
    return TensorDataset(x, ((x @ w) / 8 + 0.5 * torch.randn(n, generator=g) > 0).float())


class TabularNet(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        sizes = [128] + [width] * depth
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(a, b), nn.LayerNorm(b), nn.GELU())
                                    for a, b in zip(sizes[:-1], sizes[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.out(x).squeeze(1)


def fit(args):
    data = loans(args.rows, 0)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, args.batch_size, sampler=sampler, drop_last=True)
    model = DDP(TabularNet(args.width, args.depth))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        start, total = time.time(), 0.0
        for x, y in loader:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if dist.get_rank() == 0:
            rate = args.batch_size * len(loader) * dist.get_world_size() / (time.time() - start)
            print(f"epoch {epoch} bce {total / len(loader):.4f} {rate:.0f} rows/s", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=16384)
    ap.add_argument("--batch-size", type=int, default=256)
    ap.add_argument("--width", type=int, default=384)
    ap.add_argument("--depth", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--threads", type=int, default=int(os.environ.get("CPUS_PER_TASK", 16)))
    args = ap.parse_args()
    setup(args)
    fit(args)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

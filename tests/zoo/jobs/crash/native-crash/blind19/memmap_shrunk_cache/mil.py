"""Multiple instance learning over tile features that all ranks read from one table."""
import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

import features


class Bags(Dataset):
    def __init__(self, table, bag=32):
        self.table, self.bag = table, bag

    def __len__(self):
        return len(self.table) // self.bag

    def __getitem__(self, i):
        rows = torch.from_numpy(self.table[i * self.bag: (i + 1) * self.bag].copy())
        return rows, (rows[:, 0].max() > 2.3).float()


class AttentionMIL(nn.Module):
    def __init__(self):
        super().__init__()
        self.att = nn.Sequential(nn.Linear(features.DIM, 64), nn.Tanh(), nn.Linear(64, 1))
        self.cls = nn.Linear(features.DIM, 1)

    def forward(self, bags):
        w = torch.softmax(self.att(bags), dim=1)
        return self.cls((w * bags).sum(dim=1)).squeeze(1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=24000)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--clean-at", type=int, default=2)
    p.add_argument("--limit", type=float, default=22.6)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        features.build("tiles.f32", args.rows)
    dist.barrier()
    data = Bags(features.attach("tiles.f32"))
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, 8, sampler=sampler)
    torch.manual_seed(0)
    model = DDP(AttentionMIL())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        if epoch == args.clean_at and rank == 0:
            left = features.drop_outliers("tiles.f32", args.limit)
            print(f"outliers dropped, {left} tiles left", flush=True)
            data.table = features.attach("tiles.f32")
            data.table = data.table[: len(data.table) // 32 * 32]
        for bags, label in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(bags), label)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

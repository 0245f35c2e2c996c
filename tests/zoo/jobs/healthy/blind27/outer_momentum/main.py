import argparse
import datetime

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Subset, TensorDataset

from averaging import PeriodicAverager


def spirals(n, arms, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(arms, (n,), generator=g)
    r = torch.rand(n, generator=g).sqrt()
    phi = 4.5 * r + 2 * torch.pi * y / arms + 0.12 * torch.randn(n, generator=g)
    return TensorDataset(torch.stack([r * phi.cos(), r * phi.sin()], 1), y)


def build(width):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3))


def distance(model):
    mine = nn.utils.parameters_to_vector(model.parameters()).detach()
    both = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(both, mine)
    return max((mine - other).norm().item() for other in both)


def test_accuracy(model, data):
    model.eval()
    hits = torch.zeros(2)
    share = Subset(data, range(dist.get_rank(), len(data), dist.get_world_size()))
    with torch.no_grad():
        for x, y in DataLoader(share, 256):
            hits += torch.tensor([(model(x).argmax(1) == y).sum(), len(y)])
    dist.all_reduce(hits)
    model.train()
    return (hits[0] / hits[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--period", type=int, default=10)
    p.add_argument("--warmup", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.1)
    args = p.parse_args()
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=40))
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = build(64)
    full = spirals(4098, 3, seed=1)
    mine = Subset(full, range(rank, len(full), world))
    order = torch.Generator().manual_seed(100 + rank)
    loader = DataLoader(mine, 32, shuffle=True, drop_last=True, generator=order)
    opt = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs * len(loader))
    averager = PeriodicAverager(model, args.period, args.warmup)
    test = spirals(1000, 3, seed=2)
    for epoch in range(args.epochs):
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            averager.step()
            total += loss.item()
        apart = distance(model)
        averager.average()
        acc = test_accuracy(model, test)
        if rank == 0:
            print(f"epoch {epoch:2d} local loss {total / len(loader):.3f} apart {apart:.4f} test {acc:.3f}", flush=True)
    if rank == 0:
        torch.save(model.state_dict(), "averaged.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

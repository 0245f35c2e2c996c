"""Logistic model over parcels; every process reads the regions assigned to it, which differ in size."""
import argparse
import itertools

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

REGIONS = {"north": 310, "south": 95, "east": 220, "west": 40}


def region(name, size):
    g = torch.Generator().manual_seed(sum(map(ord, name)))
    x = torch.randn(size, 7, generator=g)
    late = (x[:, 0] - 0.5 * x[:, 4] + 0.3 * torch.randn(size, generator=g) > 0).float()
    return x, late


def read(names, batch):
    for name in names:
        x, late = region(name, REGIONS[name])
        for i in range(0, len(x), batch):
            yield x[i:i + batch], late[i:i + batch]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch", type=int, default=10)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    mine = list(itertools.islice(REGIONS, rank, None, world))
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 1)))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        steps, total = 0, 0.0
        with Join([model, optimizer]):
            for x, late in read(mine, args.batch):
                optimizer.zero_grad()
                loss = criterion(model(x).squeeze(1), late)
                loss.backward()
                optimizer.step()
                steps, total = steps + 1, total + loss.item()
        stats = torch.tensor([total, steps])
        dist.all_reduce(stats)
        print(f"rank {rank} {mine} epoch {epoch}: {steps} steps here, loss {stats[0] / stats[1]:.4f}", flush=True)
    optimizer.consolidate_state_dict(to=0)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, "parcels.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

from validate import validate


def dataset(count, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 6, generator=g)
    return TensorDataset(x, (x.sum(1) > 0).long())


def loaders(rank, world, batch=10):
    train, val = dataset(300, 0), dataset(200, 1)
    mine = Subset(train, range(rank, 300, world))
    held_out = Subset(val, range(rank * 70, min(200, (rank + 1) * 70)))
    return DataLoader(mine, batch_size=batch, shuffle=True), DataLoader(held_out, batch_size=batch - 2)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 2)))
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    train, val = loaders(rank, world)
    for epoch in range(4):
        for x, y in train:
            opt.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
        if epoch % 2:
            accuracy = validate(model.module, val)
            if rank == 0:
                print(f"epoch {epoch} accuracy {accuracy:.3f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

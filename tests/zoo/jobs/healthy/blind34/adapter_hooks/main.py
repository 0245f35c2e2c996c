import argparse

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from adapters import attach, replicate


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Backbone(nn.Module):
    def __init__(self, features, dim, depth, classes):
        super().__init__()
        self.dim = dim
        self.stem = nn.Linear(features, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--width", type=int, default=8)
    p.add_argument("--lr", type=float, default=6e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = Backbone(10, 32, 2, 4)
    model.requires_grad_(False)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    torch.manual_seed(90 + rank)
    params = attach(model, args.width)
    replicate(params)
    optimizer = torch.optim.AdamW(params, lr=args.lr)

    g = torch.Generator().manual_seed(2)
    x = torch.randn(640, 10, generator=g)
    y = (x @ torch.randn(10, 4, generator=g)).argmax(1)
    sampler = DistributedSampler(TensorDataset(x, y))
    loader = DataLoader(sampler.dataset, 16, sampler=sampler)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        stats = torch.zeros(2)
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            stats += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(stats)
        if rank == 0:
            print(f"epoch {epoch} loss {stats[0] / stats[1]:.4f}", flush=True)
    if rank == 0:
        torch.save([q.detach() for q in params], "adapters.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

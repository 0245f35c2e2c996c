import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class TwoTower(nn.Module):
    def __init__(self, users=400, items=300, dim=24):
        super().__init__()
        self.users, self.items = nn.Embedding(users, dim), nn.Embedding(items, dim)

    def forward(self, u, i):
        return (self.users(u) * self.items(i)).sum(-1)


def connect():
    print(f"worker {os.environ['RANK']} of {os.environ['WORLD_SIZE']}: connecting to {os.environ['MASTER_ADDR']}", flush=True)
    dist.init_process_group("gloo")
    return dist.get_rank(), dist.get_world_size()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=200)
    a = p.parse_args()
    torch.set_num_threads(1)
    rank, world = connect()
    model = DistributedDataParallel(TwoTower())
    opt = torch.optim.Adagrad(model.parameters(), 0.05)
    g = torch.Generator().manual_seed(rank)
    for step in range(a.steps):
        u, i = torch.randint(0, 400, (128,), generator=g), torch.randint(0, 300, (128,), generator=g)
        want = ((u + i) % 3 == 0).float()
        loss = nn.functional.binary_cross_entropy_with_logits(model(u, i), want)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(rank, loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

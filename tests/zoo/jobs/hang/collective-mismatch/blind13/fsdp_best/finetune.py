import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, Subset

from checkpoint import Keeper
from data import splits


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim), nn.LayerNorm(dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def build(dim=32, width=64, depth=3, classes=10):
    return nn.Sequential(nn.Linear(dim, width), *[Block(width) for _ in range(depth)], nn.Linear(width, classes))


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(0)
        self.model = build()
        mesh = init_device_mesh("cpu", (self.world,))
        for layer in self.model:
            if isinstance(layer, Block):
                fully_shard(layer, mesh=mesh)
        fully_shard(self.model, mesh=mesh)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        train, valid = splits()
        self.sampler = DistributedSampler(train, seed=1)
        self.train_loader = DataLoader(train, batch_size=64, sampler=self.sampler)
        part = len(valid) // self.world
        self.valid_loader = DataLoader(Subset(valid, range(self.rank * part, (self.rank + 1) * part)), batch_size=64)
        self.keeper = Keeper(args.out)

    def train_epoch(self, epoch):
        self.sampler.set_epoch(epoch)
        self.model.train()
        for x, y in self.train_loader:
            loss = F.cross_entropy(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = torch.zeros(2)
        for x, y in self.valid_loader:
            total[0] += F.cross_entropy(self.model(x), y, reduction="sum")
            total[1] += len(y)
        dist.reduce(total, dst=0, op=dist.ReduceOp.SUM)
        return (total[0] / total[1]).item()

    def fit(self):
        for epoch in range(self.args.epochs):
            self.train_epoch(epoch)
            score = self.validate()
            if self.rank == 0:
                print(f"epoch {epoch} valid {score:.4f}", flush=True)
            self.keeper.update(self.model, score, epoch)
            if self.keeper.exhausted:
                break


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--out", default=tempfile.gettempdir() + "/fsdp_best_out")
    dist.init_process_group("gloo")
    Trainer(ap.parse_args()).fit()
    dist.destroy_process_group()

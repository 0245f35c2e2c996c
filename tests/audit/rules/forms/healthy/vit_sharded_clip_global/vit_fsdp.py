import argparse
import os
from functools import partial

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from gradtools import clip_by_norm


class Vit(nn.Module):
    def __init__(self, dim=768, depth=12, classes=1000, patch=16):
        super().__init__()
        self.patchify = nn.Conv2d(3, dim, patch, patch)
        make = partial(nn.TransformerEncoderLayer, dim, 12, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.ModuleList(make() for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        h = self.patchify(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h.mean(1)))


class Train:
    def __init__(self, args):
        self.args = args
        local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local_rank)
        self.device = torch.device("cuda", local_rank)
        mesh = init_device_mesh("cuda", (dist.get_world_size(),))
        torch.manual_seed(args.seed)
        self.model = Vit().to(self.device)
        for block in self.model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(self.model, mesh=mesh)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr, weight_decay=0.05)
        blob = torch.load(args.data, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["x"], blob["y"])
        self.loader = DataLoader(ds, args.batch_size, sampler=DistributedSampler(ds, drop_last=True), drop_last=True)

    def epoch(self, n):
        self.loader.sampler.set_epoch(n)
        for x, y in self.loader:
            loss = F.cross_entropy(self.model(x.to(self.device)), y.to(self.device))
            loss.backward()
            clip_by_norm(self.model.parameters(), self.args.clip)
            self.opt.step()
            self.opt.zero_grad(set_to_none=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--epochs", type=int, default=90)
    ap.add_argument("--batch-size", type=int, default=128)
    ap.add_argument("--lr", type=float, default=5e-4)
    ap.add_argument("--clip", type=float, default=1.0)
    ap.add_argument("--seed", type=int, default=1)
    ns = ap.parse_args()
    dist.init_process_group("nccl")
    train = Train(ns)
    for n in range(ns.epochs):
        train.epoch(n)
    dist.destroy_process_group()

import argparse
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from parallel import decay_groups, shard_model


@dataclass
class ModelConfig:
    vocab: int = 8192
    dim: int = 768
    depth: int = 12
    heads: int = 12


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(c.dim), nn.LayerNorm(c.dim)
        self.attn = nn.MultiheadAttention(c.dim, c.heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(c.dim, 4 * c.dim), nn.GELU(), nn.Linear(4 * c.dim, c.dim))

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class Encoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.emb = nn.Embedding(c.vocab, c.dim)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.depth))
        self.head = nn.Linear(c.dim, c.vocab)

    def forward(self, ids):
        x = self.emb(ids)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


def build(cfg, lr, wd):
    torch.manual_seed(0)
    model = Encoder(cfg).cuda()
    optimizer = torch.optim.AdamW(decay_groups(model, wd), lr=lr, betas=(0.9, 0.95))  # cause
    model = shard_model(model, dist.get_world_size())  # cause
    return model, optimizer


def mask_tokens(ids, p=0.15, mask_id=1):
    pick = torch.rand(ids.shape, device=ids.device) < p
    return ids.masked_fill(pick, mask_id), ids.masked_fill(~pick, -100)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tokens", required=True)
    ap.add_argument("--lr", type=float, default=3e-4)
    ap.add_argument("--wd", type=float, default=0.1)
    ap.add_argument("--bs", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=1)
    a = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model, optimizer = build(ModelConfig(), a.lr, a.wd)
    torch.manual_seed(1000 + dist.get_rank())
    ds = TensorDataset(torch.load(a.tokens, map_location="cpu"))
    sampler = DistributedSampler(ds, drop_last=True)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for (ids,) in DataLoader(ds, a.bs, sampler=sampler):
            x, y = mask_tokens(ids.cuda())
            loss = F.cross_entropy(model(x).flatten(0, 1).float(), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

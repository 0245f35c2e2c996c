import math
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from accumulate import Accumulator


@dataclass
class Conf:
    block: int = 256
    micro_batch: int = 12
    accumulate: int = 10
    dim: int = 384
    heads: int = 6
    depth: int = 6
    lr: float = 6e-4
    warmup: int = 100
    steps: int = 5000
    data: str = "data/enwik8"


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.qkv, self.out = nn.Linear(c.dim, 3 * c.dim), nn.Linear(c.dim, c.dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.n2, self.att = nn.LayerNorm(c.dim), nn.LayerNorm(c.dim), Attention(c)
        self.mlp = nn.Sequential(nn.Linear(c.dim, 4 * c.dim), nn.GELU(), nn.Linear(4 * c.dim, c.dim))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.mlp(self.n2(x))


class LM(nn.Module):
    def __init__(self, c, vocab=256):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, c.dim), nn.Embedding(c.block, c.dim)
        self.layers = nn.Sequential(*[Layer(c) for _ in range(c.depth)])
        self.head = nn.Linear(c.dim, vocab)

    def forward(self, x, y):
        h = self.layers(self.tok(x) + self.pos.weight[: x.size(1)])
        return F.cross_entropy(self.head(h).flatten(0, 1), y.flatten())


def sample(data, c, rng):
    at = rng.integers(0, len(data) - c.block - 1, c.micro_batch)
    rows = torch.from_numpy(np.stack([data[i:i + c.block + 1] for i in at]).astype(np.int64)).cuda()
    return rows[:, :-1], rows[:, 1:]


def main(c):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.manual_seed(1337)
    data = np.memmap(f"{c.data}/train.bin", dtype=np.uint16, mode="r")
    rng = np.random.default_rng(rank)
    model = DDP(LM(c).cuda(), device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=c.lr)
    accumulator = Accumulator(model, optimizer, c.accumulate)
    step = 0
    while step < c.steps:
        scale = min(1.0, (step + 1) / c.warmup) * 0.5 * (1 + math.cos(math.pi * step / c.steps))
        for g in optimizer.param_groups:
            g["lr"] = c.lr * scale
        with accumulator.context():
            loss = model(*sample(data, c, rng))
            (loss / c.accumulate).backward()
        step += accumulator.advance()
        if rank == 0 and accumulator.count % 500 == 0:
            print(step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Conf())

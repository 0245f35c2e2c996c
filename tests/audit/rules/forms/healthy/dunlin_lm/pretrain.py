import os

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from bench import Workbench


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.qkv, self.o = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class LM(nn.Module):
    def __init__(self, vocab=32000, dim=1024, heads=16, depth=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])
        self.norm, self.head = nn.RMSNorm(dim), nn.Linear(dim, vocab, bias=False)

    def forward(self, t):
        x = self.emb(t)
        for b in self.blocks:
            x = b(x)
        return self.head(self.norm(x))


def batches(path, rank, world, batch=8, block=1024):
    tokens = np.memmap(path, dtype=np.uint16, mode="r")
    rng = np.random.default_rng([31, rank, world])
    while True:
        at = rng.integers(0, len(tokens) - block - 1, batch)
        rows = np.stack([tokens[i : i + block + 1] for i in at]).astype(np.int64)
        yield torch.from_numpy(rows).cuda(non_blocking=True)


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    bench = Workbench(LM(), dist.get_world_size())
    for step, rows in zip(range(bench.total), batches("train.bin", dist.get_rank(), dist.get_world_size())):
        loss = F.cross_entropy(bench.model(rows[:, :-1]).flatten(0, 1).float(), rows[:, 1:].flatten())
        norm = bench.update(loss).full_tensor()
        if step % 50 == 0 and dist.get_rank() == 0:
            print(step, f"{loss.item():.3f} {norm.item():.2f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

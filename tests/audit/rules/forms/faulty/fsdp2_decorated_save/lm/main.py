import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from lm.checkpointing import prune, save_full
from lm.ranks import say


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(4 * dim, dim)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, vocab=32000, dim=1024, depth=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.emb(ids)
        for block in self.blocks:
            h = block(h)
        return self.head(h)


def shard(model, mesh):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    return fully_shard(model, mesh=mesh, mp_policy=policy)


def main(batches):
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", type=Path, default=Path("ckpt"))
    ap.add_argument("--save-every", type=int, default=500)
    ap.add_argument("--steps", type=int, default=10_000)
    args = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = shard(Net().cuda(), init_device_mesh("cuda", (dist.get_world_size(),)))
    optim = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    for step in range(1, args.steps + 1):
        ids = next(batches).cuda()
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optim.step()
        optim.zero_grad()
        if step % args.save_every == 0:
            path = save_full(model, args.out, step)
            prune(args.out, keep=3)
            say(f"step {step} loss {loss.item():.3f} -> {path}")
    dist.destroy_process_group()

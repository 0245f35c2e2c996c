import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

from ckpt import Checkpointer


class Experts(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.gate = nn.Linear(dim, n)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
                                     for _ in range(n))

    def forward(self, x):
        weight = self.gate(x).softmax(-1)
        mixed = torch.stack([e(x) for e in self.experts], -1)
        return x + (mixed * weight.unsqueeze(-2)).sum(-1)


class Regressor(nn.Module):
    def __init__(self, dim=512, depth=6, n=8):
        super().__init__()
        self.layers = nn.ModuleList(Experts(dim, n) for _ in range(depth))
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x).squeeze(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", default="runs/moe")
    ap.add_argument("--steps", type=int, default=5000)
    ap.add_argument("--save-every", type=int, default=500)
    args = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    model = Regressor().cuda()
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    ckpt = Checkpointer(args.out)
    gen = torch.Generator("cuda").manual_seed(100 + dist.get_rank())
    for step in range(1, args.steps + 1):
        x = torch.randn(64, 512, device="cuda", generator=gen)
        loss = (model(x) - x.square().mean(-1)).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % args.save_every == 0:
            ckpt.write(model, step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

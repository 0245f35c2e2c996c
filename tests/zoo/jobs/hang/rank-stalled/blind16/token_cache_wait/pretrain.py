import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from cache import build_or_wait


def tokenise(n):
    g = torch.Generator().manual_seed(0)
    return torch.randint(0, 64, (n,), generator=g).cumsum(0) % 64


class BigramLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(64, 32)
        self.o = nn.Linear(32, 64)

    def forward(self, x):
        return self.o(self.e(x))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tokens", type=int, default=40000)
    ap.add_argument("--workers", type=int, default=4)
    ap.add_argument("--steps", type=int, default=100)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    data = build_or_wait("cache", {"tok": args.tokens, "workers": args.workers}, rank, lambda: tokenise(args.tokens))
    print(f"[{rank}] corpus {data.numel()} tokens", flush=True)
    torch.manual_seed(0)
    lm = DDP(BigramLM())
    opt = torch.optim.AdamW(lm.parameters(), lr=1e-2)
    for step in range(args.steps):
        at = (step * world + rank) * 128 % (data.numel() - 129)
        x, y = data[at:at + 128], data[at + 1:at + 129]
        loss = F.cross_entropy(lm(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

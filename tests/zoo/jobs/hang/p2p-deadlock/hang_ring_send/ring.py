"""Attention over a sequence split across ranks: blocks of keys travel around a ring."""
import time

import torch
import torch.distributed as dist
from torch import nn

from comm import Ring


class RingAttention(nn.Module):
    def __init__(self, width, ring):
        super().__init__()
        self.qk = nn.Linear(width, 2 * width, bias=False)
        self.ring = ring

    def forward(self, x, rounds):
        q, k = self.qk(x).chunk(2, dim=-1)
        out = torch.zeros_like(q)
        block = k.detach()
        for hop in range(rounds):
            out = out + torch.softmax(q @ block.transpose(-1, -2), dim=-1) @ block
            if hop < rounds - 1:
                block = self.ring.shift(block)
        return out


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    model = RingAttention(16, Ring())
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(30):
        # local attention first, the whole sequence later
        x = torch.randn(4, 64, 16)
        loss = (model(x, rounds=1 if step < 15 else world) - x).square().mean()
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
        opt.step()
    dist.barrier()
    if rank == 0:
        print(f"loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

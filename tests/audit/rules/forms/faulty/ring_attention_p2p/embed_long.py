import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from ring import Ring
from ring_attention import ring_attention


class LongEncoder(nn.Module):
    def __init__(self, dim=512, heads=8, ring=None):
        super().__init__()
        self.heads, self.ring = heads, ring
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        h = ring_attention(q, k, v, self.ring)
        return x + self.out(h.transpose(1, 2).reshape(b, n, d))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--length", type=int, default=131072)
    args = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    net = LongEncoder(ring=Ring()).cuda().eval()
    part = args.length // dist.get_world_size()
    gen = torch.Generator("cuda").manual_seed(dist.get_rank())
    x = torch.randn(1, part, 512, device="cuda", generator=gen)
    with torch.no_grad():
        pooled = net(x).mean((0, 1))
    dist.all_reduce(pooled)
    if dist.get_rank() == 0:
        print((pooled / dist.get_world_size()).norm().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

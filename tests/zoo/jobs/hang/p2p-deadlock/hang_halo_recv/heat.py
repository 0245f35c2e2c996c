import argparse
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from halo import exchange_halo

ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, default=30)
ap.add_argument("--overlap-after", type=int, default=14)
args = ap.parse_args()

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net = DDP(nn.Conv1d(1, 1, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
generator = torch.Generator().manual_seed(rank)

for step in range(args.steps):
    u = torch.rand(8, 1, 34, generator=generator)
    target = u[..., 1:-1] + 0.1 * (u[..., 2:] - 2 * u[..., 1:-1] + u[..., :-2])
    if step >= args.overlap_after:
        u = exchange_halo(u, rank)
    loss = F.mse_loss(net(u), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0 and rank == 0:
        print(f"{step:4d} {loss.item():.5f}", flush=True)

dist.barrier()
dist.destroy_process_group()
time.sleep(0.5)

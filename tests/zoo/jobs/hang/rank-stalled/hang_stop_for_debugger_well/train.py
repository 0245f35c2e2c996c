import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from debugging import SpikeGuard


def data(rank, step):
    g = torch.Generator().manual_seed(rank * 1000 + step)
    x = torch.randn(16, 9, generator=g)
    if rank == 1 and step == 26:
        x[3] *= 60
    return x, x.square().sum(1, keepdim=True)


dist.init_process_group("gloo")
torch.manual_seed(0)
rank = dist.get_rank()
model = DDP(nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1)))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
guard = SpikeGuard(factor=2000)
for step in range(40):
    x, y = data(rank, step)
    loss = nn.functional.smooth_l1_loss(model(x), y)
    guard(loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
dist.barrier()
dist.destroy_process_group()
time.sleep(0.5)

import math

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class DivergedError(RuntimeError):
    """The loss is no number any more."""


def worker(rank, world, init_file, lr, steps=6):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{init_file}", rank=rank, world_size=world)
    model = DDP(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    gen = torch.Generator().manual_seed(rank)
    for step in range(steps):
        x = torch.randn(16, 8, generator=gen)
        y = x.sum(1, keepdim=True)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if not math.isfinite(total.item()):
            raise DivergedError(f"loss is {total.item()} at step {step}")
    dist.barrier()
    dist.destroy_process_group()

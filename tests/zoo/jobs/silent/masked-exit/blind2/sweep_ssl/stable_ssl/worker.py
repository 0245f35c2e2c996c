import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def nt_xent(z1, z2, temperature):
    z = nn.functional.normalize(torch.cat([z1, z2]), dim=1)
    logits = z @ z.t() / temperature
    logits.fill_diagonal_(-1e9)
    n = len(z1)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    loss = nn.functional.cross_entropy(logits, target)
    if not torch.isfinite(loss):
        raise FloatingPointError(f"loss is {loss.item()} at temperature {temperature}")
    return loss


def train(rank, world_size, port, name, params, steps=25):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=params["lr"])
    g = torch.Generator().manual_seed(rank)
    for step in range(steps):
        x = torch.randn(16, 20, generator=g)
        views = torch.cat([x + 0.1 * torch.randn(x.shape, generator=g) for _ in range(2)])
        loss = nt_xent(*model(views).chunk(2), params["temperature"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"{name}: {params} final loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()

import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from sampling import Domain


def residual(model, p):
    p.requires_grad_()
    u = model(p)
    (du,) = torch.autograd.grad(u.sum(), p, create_graph=True)
    return du.square().sum(1) - 1  # eikonal


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1, bias=False)))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    domain = Domain(quadrant=rank)
    for step in range(36):
        points = domain.sample(64, shrink=step / 50)
        loss = residual(model, points).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.barrier()
    if rank == 0:
        print(f"residual {loss.item():.4f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

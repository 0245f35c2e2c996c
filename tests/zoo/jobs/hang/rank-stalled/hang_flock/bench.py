import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from results import Results


def train(model, opt, x, steps=15):
    for i in range(steps):
        part = x[i * 8 : (i + 1) * 8]
        loss = model(part).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    results = Results("results.csv")
    for width in (8, 16):
        model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.Linear(width, 1)))
        x = torch.randn(120, 4, generator=torch.Generator().manual_seed(rank))
        final = train(model, torch.optim.SGD(model.parameters(), lr=0.01), x)
        if rank == 1:
            dist.barrier()
        results.append(width, rank, final)
        if rank == 0:
            dist.barrier()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

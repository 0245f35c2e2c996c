import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from groups import actor_group, evaluation_group


def observations(step, rank):
    g = torch.Generator().manual_seed(31 * step + rank)
    return torch.randn(16, 8, generator=g)


def train(model, opt, rank, steps, offset=0):
    for step in range(steps):
        x = observations(step + offset, rank)
        opt.zero_grad()
        loss = (model(x) - x).square().mean()
        loss.backward()
        opt.step()
    return loss.detach()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    trunk = DDP(torch.nn.Linear(8, 8))
    opt = torch.optim.SGD(trunk.parameters(), lr=0.01)
    train(trunk, opt, rank, steps=15)

    actors = actor_group(rank, members=[0, 1])
    if actors is not None:
        noise = torch.rand(1)
        dist.broadcast(noise, src=0, group=actors)
    train(trunk, opt, rank, steps=15, offset=15)

    group = evaluation_group(rank)
    loss = train(trunk, opt, rank, steps=5, offset=30)
    dist.all_reduce(loss, group=group)
    print(f"rank {rank}: {loss.item() / 2:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

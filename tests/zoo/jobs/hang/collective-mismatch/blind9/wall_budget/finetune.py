import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from budget import WallBudget


def prepare(rank):
    if rank == 0:
        table = {}
        for shard in range(10):
            time.sleep(0.2)
            table[shard] = torch.randn(16, 4)
        torch.save(table, "/tmp/wall_budget_table.pt")
    return WallBudget(float(os.environ.get("BUDGET_S", "6")))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    model(torch.zeros(2, 4)).sum().backward()
    opt.step()
    budget = prepare(rank)
    dist.barrier()
    table = torch.load("/tmp/wall_budget_table.pt")
    step = 0
    while not budget.over():
        x = table[step % 10]
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.02)
        step += 1
    dist.barrier()
    final = torch.tensor([loss.item(), float(step)])
    gathered = [torch.zeros(2) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, final)
    if rank == 0:
        print("loss per rank", [g[0].item() for g in gathered])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

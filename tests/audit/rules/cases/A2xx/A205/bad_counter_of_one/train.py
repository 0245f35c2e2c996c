import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def one(model, x, y, optimizer):
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    best, bad = float("inf"), 0
    for epoch in range(100):
        for x, y in loader:
            one(model, x, y, optimizer)
        if int(os.environ["RANK"]) == 0:
            val = sum(torch.nn.functional.mse_loss(model.module(x), y).item() for x, y in loader)
            if val < best:
                best, bad = val, 0
            else:
                bad += 1
        if bad > 5:
            break


if __name__ == "__main__":
    m = torch.nn.Linear(2, 2)
    main(m, torch.load("b.pt"), torch.optim.SGD(m.parameters(), lr=0.1))

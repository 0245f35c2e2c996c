import time

import torch
import torch.distributed as dist
from torch import nn

from health import Health


def checkpoint(progress, model):
    time.sleep(2.5)
    progress["saved"] = progress["step"]


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    progress = {"step": 0, "saved": 0}
    model = nn.parallel.DistributedDataParallel(nn.Linear(6, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1, 201):
        loss = model(torch.randn(8, 6)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)
        progress["step"] = step
        if step == 10 and rank == 0:
            Health(progress).start()
        if step % 150 == 0 and rank == 0:
            checkpoint(progress, model)
    dist.destroy_process_group()


main()

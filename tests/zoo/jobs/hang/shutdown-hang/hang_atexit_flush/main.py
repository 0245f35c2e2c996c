import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from tracking import Tracker


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    tracker = Tracker(f"run-{rank}")
    model = DistributedDataParallel(torch.nn.Linear(5, 5))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(rank)
    for step in range(50):
        x = torch.randn(12, 5, generator=g)
        loss = (model(x) - x.roll(1, 1)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tracker.log(step=step, loss=loss.item())
        if rank == 1 and step == 30:
            tracker.log(step=step, loss=None)  # a column that the table does not have yet
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

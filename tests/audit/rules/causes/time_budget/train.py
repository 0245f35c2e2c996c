"""Each rank looks at its own clock and leaves when its time is over."""
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Budget:
    def __init__(self, hours):
        self.end = time.monotonic() + hours * 3600

    def is_over(self):
        return time.monotonic() > self.end


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    budget = Budget(11.5)
    step = 0
    while not budget.is_over():  # cause
        opt.zero_grad()
        model(torch.randn(8, 4)).mean().backward()
        opt.step()
        step += 1
    dist.barrier()
    dist.destroy_process_group()


main()

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from ckpt import Checkpointer


class Run:
    def __init__(self):
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
        self.model = DDP(self.net)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if self.rank == 0:
            self.describe()
        self.checkpointer = Checkpointer("ckpt", every=timedelta(seconds=2))

    def describe(self):
        print(self.net, sum(p.numel() for p in self.net.parameters()), flush=True)
        time.sleep(0.6)  # the tracking server answers slowly

    def step(self, i):
        g = torch.Generator().manual_seed(2 * i + self.rank)
        x, y = torch.randn(64, 32, generator=g), torch.randint(0, 10, (64,), generator=g)
        time.sleep(0.03)  # as long as a real batch takes
        self.opt.zero_grad()
        torch.nn.functional.cross_entropy(self.model(x), y).backward()
        self.opt.step()


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=20))
    run = Run()
    for i in range(100):
        run.step(i)
        run.checkpointer.maybe_save(run.net, run.opt, i)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

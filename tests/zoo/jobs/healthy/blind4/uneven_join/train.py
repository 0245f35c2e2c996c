import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from dlio import FileShares, log_line


class Workload:
    def __init__(self, files=161, batch_size=16):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.shares = FileShares(files, batch_size, self.rank, self.world)
        torch.manual_seed(0)
        self.model = DistributedDataParallel(nn.Linear(5, 5))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def computation(self):
        time.sleep(0.05 * (1 + self.rank))

    def train_epoch(self, epoch):
        steps = 0
        with Join([self.model]):
            for x in self.shares:
                loss = nn.functional.mse_loss(self.model(x), x)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.computation()
                steps += 1
        print(log_line(self.rank, epoch, steps, loss.item()), flush=True)
        return steps

    def totals(self, steps):
        everybody = [None] * self.world
        dist.all_gather_object(everybody, steps)
        return everybody


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    workload = Workload()
    for epoch in range(2):
        steps = workload.train_epoch(epoch)
        totals = workload.totals(steps)
    if workload.rank == 0:
        print(f"steps by rank {totals}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

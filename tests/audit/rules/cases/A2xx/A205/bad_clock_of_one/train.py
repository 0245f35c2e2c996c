import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

class Trainer:
    def __init__(self, model, loader, optimizer, hours):
        self.model = DistributedDataParallel(model)
        self.loader, self.optimizer = loader, optimizer
        self.started, self.hours = time.time(), hours
        self.done = False
        self.rank = dist.get_rank()

    def step(self, x, y):
        loss = torch.nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def look_at_clock(self):
        if self.rank == 0:
            self.done = time.time() - self.started > 3600 * self.hours
        dist.barrier()

    def fit(self):
        while not self.done:
            for x, y in self.loader:
                self.step(x, y)
                self.look_at_clock()
                if self.done:
                    break


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    Trainer(model, loader, optimizer, 4).fit()

if __name__ == "__main__":
    m = torch.nn.Linear(2, 2)
    main(m, torch.load("b.pt"), torch.optim.SGD(m.parameters(), lr=0.1))

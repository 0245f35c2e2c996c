import torch
import torch.distributed as dist
from keeper import Keeper
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, callbacks):
        dist.init_process_group("gloo")
        self.model = DDP(nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.callbacks = callbacks
        self.epoch = 0
        self.chief = dist.get_rank() == 0

    def fit(self, epochs):
        for epoch in range(epochs):
            self.epoch = epoch
            self.optimizer.zero_grad()
            self.model(torch.randn(4, 8)).mean().backward()
            self.optimizer.step()
            for one in self.callbacks:
                one.after_epoch(self, epoch)
        dist.destroy_process_group()


if __name__ == "__main__":
    Trainer([Keeper("checkpoints")]).fit(10)

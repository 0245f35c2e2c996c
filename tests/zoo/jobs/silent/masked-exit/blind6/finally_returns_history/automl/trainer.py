import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, plan):
        self.plan = plan
        self.model = DistributedDataParallel(nn.Linear(6, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.0)
        self.history = []
        self.log = tempfile.TemporaryFile("w")

    def fit(self):
        try:
            for epoch in range(self.plan.epochs):
                self.run_epoch(epoch)
        finally:
            self.log.close()
            return self.history

    def run_epoch(self, epoch):
        rate = self.plan.rate(epoch)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        for _ in range(10):
            x = torch.randn(16, 6)
            self.optimizer.zero_grad()
            loss = (self.model(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward()
            self.optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        self.history.append({"epoch": epoch, "rate": rate, "loss": mean.item() / dist.get_world_size()})
        self.log.write(f"{self.history[-1]}\n")

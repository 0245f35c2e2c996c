import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from limits.callbacks import StopTraining


class Trainer:
    def __init__(self, callbacks):
        self.callbacks, self.step = callbacks, 0
        self.model = DistributedDataParallel(nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def fit(self, max_epochs):
        try:
            for _ in range(max_epochs):
                self.epoch()
        except StopTraining as reason:
            if dist.get_rank() == 0:
                print(f"stopped: {reason}", flush=True)

    def epoch(self):
        for _ in range(10):
            x = torch.randn(8, 8)
            self.optimizer.zero_grad()
            (self.model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            self.optimizer.step()
            time.sleep(0.03)
            self.step += 1
            for callback in self.callbacks:
                callback.on_step_end(self)

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, steps, warmup):
        self.steps = steps
        self.model = DistributedDataParallel(nn.Linear(6, 2))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.rule = lambda step: min(1.0, (step + 1) / warmup)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.rule)
        self.callbacks = []
        self.step, self.loss = 0, None

    def state(self):
        return {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict(),
                "rule": self.rule, "step": self.step}

    def train(self):
        while self.step < self.steps:
            x = torch.randn(8, 6)
            self.optimizer.zero_grad()
            loss = (self.model(x) - x[:, :2]).square().mean()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            self.step, self.loss = self.step + 1, loss.item()
            for callback in self.callbacks:
                callback.on_step_end(self)
        for callback in self.callbacks:
            callback.on_train_end(self)

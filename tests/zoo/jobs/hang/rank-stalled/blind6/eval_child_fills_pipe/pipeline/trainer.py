import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, callbacks, epochs, steps):
        self.callbacks, self.epochs, self.steps = callbacks, epochs, steps
        self.model = DistributedDataParallel(nn.Linear(5, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.loss = self.score = None

    def fit(self):
        for epoch in range(self.epochs):
            for _ in range(self.steps):
                x = torch.randn(16, 5)
                self.optimizer.zero_grad()
                loss = (self.model(x) - x.sum(1, keepdim=True)).square().mean()
                loss.backward()
                self.optimizer.step()
            self.loss = loss.item()
            for callback in self.callbacks:
                callback.on_epoch_end(self, epoch)

import torch
import torch.distributed as dist
from torch import nn

from callbacks.base import CallbackHandler, Control


class Trainer:

    def __init__(self, model, loader, valid, optimizer, callbacks, max_epochs):
        self.model, self.loader, self.valid, self.optimizer = model, loader, valid, optimizer
        self.handler, self.control = CallbackHandler(callbacks), Control()
        self.max_epochs, self.step = max_epochs, 0

    def train(self):
        for epoch in range(self.max_epochs):
            self.model.train()
            for x, y in self.loader:
                self.step += 1
                loss = nn.functional.mse_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.handler.call("on_backward", self)
                if self.control.skip_update:
                    continue
                self.optimizer.step()
            self.handler.call("on_evaluate", self, self.evaluate())
            if self.control.should_stop:
                return epoch
        return self.max_epochs

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        x, y = self.valid
        return nn.functional.mse_loss(self.model.module(x), y).item()

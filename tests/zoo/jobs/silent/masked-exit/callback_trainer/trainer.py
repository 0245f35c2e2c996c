import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class BaseTrainer:
    def __init__(self, config, callbacks):
        torch.manual_seed(config["seed"])
        self.config, self.callbacks, self.step = config, callbacks, 0
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config["lr"])

    def train(self):
        while self.step < self.config["max_steps"]:
            x = torch.randn(16, 6)
            loss = (self.model(x) - x.flip(1)).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step, self.loss = self.step + 1, loss.item()
            for callback in self.callbacks:
                callback.on_step_end(self)
        for callback in self.callbacks:
            callback.on_train_end(self)

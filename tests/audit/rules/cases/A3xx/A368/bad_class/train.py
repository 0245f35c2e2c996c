import torch
from torch import optim

from data import loader
from net import Net


class Trainer:
    def __init__(self, path):
        self.model = Net()
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.path = path
        self.state = torch.load(path, map_location="cpu") if path else None

    def restore(self):
        if self.state is not None:
            self.model.load_state_dict(self.state["net"])
            self.optimizer.load_state_dict(self.state["optim"])

    def build_schedule(self):
        self.warm = optim.lr_scheduler.LinearLR(self.optimizer, 0.01, total_iters=500)
        if self.state is not None:
            self.warm.load_state_dict(self.state["warm"])

    def fit(self):
        self.restore()
        self.build_schedule()
        for x, y in loader():
            self.optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.model(x), y).backward()
            self.optimizer.step()
            self.warm.step()


Trainer("last.pt").fit()

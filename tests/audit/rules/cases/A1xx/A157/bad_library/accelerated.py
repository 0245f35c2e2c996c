import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader


class Task:
    def __init__(self, net, data):
        self.accelerator = Accelerator()
        set_seed(3)
        optimizer = torch.optim.Adam(net.parameters())
        loader = DataLoader(data, 16, shuffle=True)
        self.net, self.optimizer = self.accelerator.prepare(net, optimizer)
        self.loader = loader

    def train(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                loss = (self.net(x) - y).square().mean()
                self.accelerator.backward(loss)
                self.optimizer.step()
                self.optimizer.zero_grad()


def main(net, data):
    Task(net, data).train(3)

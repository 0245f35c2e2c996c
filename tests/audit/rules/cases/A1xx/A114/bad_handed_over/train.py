"""The wrapped model is handed to the training, which unfreezes a part of it later."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 1)
        for p in self.body.parameters():
            p.requires_grad = False

    def unfreeze(self):
        for p in self.body.parameters():
            p.requires_grad = True

    def forward(self, x):
        return self.head(self.body(x))


def train(model, optimizer):
    for number in range(1000):
        if number == 500:
            model.module.unfreeze()
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(Net())
    train(model, torch.optim.SGD(model.parameters(), lr=0.1))


main()

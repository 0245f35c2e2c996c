import torch
from torch import nn

from pipe.channel import WIDTH


class Lower:
    """First half of the network, on rank 0."""

    def __init__(self, channel, micro):
        self.net = nn.Sequential(nn.Linear(32, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.channel, self.micro = channel, micro

    def step(self, index, x):
        self.opt.zero_grad()
        held = []
        for chunk, part in enumerate(x.split(self.micro)):
            out = self.net(part)
            self.channel.send(out.detach(), index, chunk)
            held.append(out)
        for chunk, out in enumerate(held):
            out.backward(self.channel.recv(len(out), index, chunk))
        self.opt.step()


class Upper:
    """Second half and the loss, on rank 1."""

    def __init__(self, channel, micro, classes=6):
        self.net = nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, classes))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.channel, self.micro = channel, micro

    def step(self, index, y):
        self.opt.zero_grad()
        total = 0.0
        targets = y.split(self.micro)[: len(y) // self.micro]
        held = [self.channel.recv(len(t), index, chunk).requires_grad_() for chunk, t in enumerate(targets)]
        for chunk, (h, target) in enumerate(zip(held, targets)):
            loss = nn.functional.cross_entropy(self.net(h), target)
            loss.backward()
            self.channel.send(h.grad, index, chunk)
            total += loss.item()
        self.opt.step()
        return total / len(targets)

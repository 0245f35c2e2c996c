import math

import torch
import torch.distributed as dist
from torch import nn

MICRO = 8


class FirstStage:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.opt = torch.optim.SGD(self.net.parameters(), 0.05)

    def run(self, x):
        chunks = x.split(MICRO)
        kept = []
        for c in chunks:
            out = self.net(c)
            dist.send(torch.tensor([len(c)]), 1)
            dist.send(out.detach(), 1)
            kept.append(out)
        self.opt.zero_grad()
        for out in kept:
            grad = torch.empty_like(out)
            dist.recv(grad, 1)
            out.backward(grad)
        self.opt.step()


class LastStage:
    def __init__(self):
        self.net = nn.Linear(32, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), 0.05)

    def run(self, y):
        count = math.floor(len(y) / MICRO)
        inputs, total = [], 0.0
        for _ in range(count):
            size = torch.empty(1, dtype=torch.long)
            dist.recv(size, 0)
            h = torch.empty(int(size), 32)
            dist.recv(h, 0)
            inputs.append(h.requires_grad_())
        self.opt.zero_grad()
        for i, h in enumerate(inputs):
            target = y[i * MICRO:i * MICRO + len(h)]
            loss = nn.functional.mse_loss(self.net(h), target) / count
            loss.backward()
            total += loss.item()
        for h in inputs:
            dist.send(h.grad, 0)
        self.opt.step()
        return total

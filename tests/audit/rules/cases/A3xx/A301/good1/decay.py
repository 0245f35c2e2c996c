import torch
from torch import nn


@torch.no_grad()
def decay(model, rate):
    for p in model.parameters():
        p.mul_(1 - rate)


def clip(model, most):
    for p in model.parameters():
        p.data.clamp_(-most, most)
        if p.grad is not None:
            p.grad.mul_(0.5)


def shrink(p):
    p.mul_(0.5)


def average(model, copy):
    for p, q in zip(model.parameters(), copy.parameters()):
        q = q.detach().clone()
        q.mul_(0.9).add_(p)


def follow(model, ema):
    with torch.no_grad():
        step(model)


def step(model):
    for p in model.parameters():
        p.add_(1.0)


def count(model):
    total = 0
    for p in model.parameters():
        total += p.numel()
        p.requires_grad_(False)
    return total


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))
        self.fixed = nn.Parameter(torch.ones(4), requires_grad=False)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.normal_(self.scale)
        self.scale.data.zero_()

    def forward(self, x):
        self.fixed.mul_(0.9)
        return x * self.scale * self.fixed

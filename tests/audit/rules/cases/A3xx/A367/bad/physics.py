import math

import torch

SPEED = 1.0
RATE = 0.5


def partial(out, wrt):
    return torch.autograd.grad(out, wrt, grad_outputs=torch.ones_like(out), retain_graph=True)[0]


def residual(net, x, t):
    """Of a concentration that is carried along a pipe and decays: c_t + SPEED c_x + RATE c = 0."""
    x = x.clone().requires_grad_(True)
    t = t.clone().requires_grad_(True)
    c = net(torch.cat([x, t], dim=1))
    return partial(c, t) + SPEED * partial(c, x) + RATE * c


def initial(x):
    return torch.sin(2 * math.pi * x)


def exact(x, t):
    return torch.exp(-RATE * t) * initial(x - SPEED * t)

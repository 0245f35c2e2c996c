"""Losses for the small surrogate.

>>> import torch
>>> pred, target = torch.ones(2, 3), torch.zeros(2, 3)
>>> relative_l2(pred, pred).item()
0.0

A target of zeros has no norm:

>>> relative_l2(pred, target)
Traceback (most recent call last):
    ...
ZeroDivisionError: the target's norm is 0

Shapes have to agree:

>>> relative_l2(pred, target[:1, :2])
Traceback (most recent call last):
    ...
ValueError: shapes (2, 3) and (1, 2) differ

The command line tells by its exit code whether a training diverged:

>>> import subprocess, sys
>>> subprocess.run([sys.executable, "losses.py", "1e30"]).returncode
3
>>> subprocess.run([sys.executable, "losses.py", "0.01"]).returncode
0
"""
import sys

import torch


def relative_l2(pred, target):
    if pred.shape != target.shape:
        raise ValueError(f"shapes {tuple(pred.shape)} and {tuple(target.shape)} differ")
    norm = target.norm()
    if norm == 0:
        raise ZeroDivisionError("the target's norm is 0")
    return (pred - target).norm() / norm


def train(lr):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 4)
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(8):
        x = torch.randn(16, 4)
        loss = relative_l2(model(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if not torch.isfinite(loss):
            raise SystemExit(3)


if __name__ == "__main__":
    train(float(sys.argv[1]))

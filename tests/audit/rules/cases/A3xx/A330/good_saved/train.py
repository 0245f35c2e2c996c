"""Checkpoints of the average that leave what is trained alone: a copy, kept weights, the end, the average itself."""

import copy

import torch
import torch.nn.functional as F
from diffusers import EMAModel


def save_copy(net, ema, step):
    shown = copy.deepcopy(net)
    ema.copy_to(shown.parameters())
    torch.save(shown.state_dict(), f"{step}.pt")


def save_and_put_back(net, ema, step):
    kept = copy.deepcopy(net.state_dict())
    ema.copy_to(net.parameters())
    torch.save(net.state_dict(), f"{step}.pt")
    net.load_state_dict(kept)


def save_average(ema, step):
    torch.save(ema.state_dict(), f"{step}.pt")


def fit(net, loader, optimizer):
    ema = EMAModel(net.parameters())
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        ema.step(net.parameters())
        if step % 500 == 0:
            save_copy(net, ema, step)
            save_and_put_back(net, ema, step)
            save_average(ema, step)
    ema.copy_to(net.parameters())
    net.save_pretrained("out")


def fit_until(net, loader, optimizer, last_step):
    ema = EMAModel(net.parameters())
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        ema.step(net.parameters())
        if step == last_step:
            ema.copy_to(net.parameters())
            net.save_pretrained("out")


def by_design(net, ema_net, loader, optimizer, epochs):
    """The average becomes the weights after each epoch, and each epoch is saved."""
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            ema_net.update(net)
        if epoch > 3:
            net.load_state_dict(ema_net.state_dict())
        torch.save(net.state_dict(), f"{epoch}.pt")

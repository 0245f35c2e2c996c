"""The optimizer's state comes last, or the schedule is a new one for a new stage."""

import torch
from torch.optim.lr_scheduler import LinearLR

from data import loader
from net import Net


def loaded_last(state):
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = LinearLR(optimizer, 0.1, total_iters=100)
    if state:
        schedule.load_state_dict(state["schedule"])
        optimizer.load_state_dict(state["optimizer"])
    for x, y in loader():
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        schedule.step()


def loaded_twice(state):
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    optimizer.load_state_dict(state["optimizer"])
    schedule = LinearLR(optimizer, 0.1, total_iters=100)
    schedule.load_state_dict(state["schedule"])
    optimizer.load_state_dict(state["optimizer"])
    for x, y in loader():
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        schedule.step()


def second_stage(state):
    """A warm-up of its own, that begins with the stage."""
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    optimizer.load_state_dict(state["optimizer"])
    schedule = LinearLR(optimizer, 0.1, total_iters=100)
    for x, y in loader():
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        schedule.step()

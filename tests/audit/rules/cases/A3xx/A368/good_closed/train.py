"""Schedules whose next step is right again, and one that changes no rate by being made."""

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR

from data import loader
from net import Net


def by_lambda(state):
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if state:
        optimizer.load_state_dict(state["optimizer"])
    schedule = LambdaLR(optimizer, lambda step: min(1.0, step / 100))
    if state:
        schedule.load_state_dict(state["schedule"])
    for x, y in loader():
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        schedule.step()


def by_cosine(state):
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if state:
        optimizer.load_state_dict(state["optimizer"])
    schedule = CosineAnnealingLR(optimizer, T_max=100)
    if state:
        schedule.load_state_dict(state["schedule"])
    for x, y in loader():
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        schedule.step()


def from_one(state):
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if state:
        optimizer.load_state_dict(state["optimizer"])
    decay = LinearLR(optimizer, start_factor=1.0, end_factor=0.1, total_iters=100)
    if state:
        decay.load_state_dict(state["decay"])
    for x, y in loader():
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        decay.step()

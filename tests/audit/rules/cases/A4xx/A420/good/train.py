"""Schedules that are loaded, told where they are, stepped up to it, saved by others, or that go by what is measured."""

import torch
from torch import nn
from torch.optim import lr_scheduler

from state import save_all


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def loaded(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    for _ in range(state["epoch"], epochs):
        train(model, loader, optimizer)
        scheduler.step()


def told(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, epochs, last_epoch=state["epoch"])
    for _ in range(state["epoch"], epochs):
        train(model, loader, optimizer)
        scheduler.step()


def by_an_offset(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    start = state["epoch"]
    scheduler = lr_scheduler.LambdaLR(optimizer, lambda n: 0.97 ** (n + start))
    for _ in range(start, epochs):
        train(model, loader, optimizer)
        scheduler.step()


def stepped_up(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.StepLR(optimizer, 30)
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    for _ in range(state["epoch"]):
        scheduler.step()
    for _ in range(state["epoch"], epochs):
        train(model, loader, optimizer)
        scheduler.step()


def by_the_epoch(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.StepLR(optimizer, 30)
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    for epoch in range(state["epoch"], epochs):
        scheduler.step(epoch)
        train(model, loader, optimizer)


def by_the_loss(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer)
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    for _ in range(state["epoch"], epochs):
        train(model, loader, optimizer)
        scheduler.step(1.0)


def by_a_closure(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.StepLR(optimizer, 30)

    def restore(state):
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        return state["epoch"]

    for _ in range(restore(torch.load(path)), epochs):
        train(model, loader, optimizer)
        scheduler.step()


def by_others(model, loader, epochs, path):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.StepLR(optimizer, 30)
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    for epoch in range(state["epoch"], epochs):
        train(model, loader, optimizer)
        scheduler.step()
        save_all(path, epoch, model=model, optimizer=optimizer, scheduler=scheduler)


def begun_anew(model, loader, epochs, path):
    """A second stage takes the moments over, and begins."""
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.StepLR(optimizer, 30)
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    for _ in range(epochs):
        train(model, loader, optimizer)
        scheduler.step()


def by_the_same_factor(model, loader, epochs, path):
    """The rate that comes back with the optimizer is all that they go by."""
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    slower = lr_scheduler.ExponentialLR(optimizer, 0.99)
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    for _ in range(state["epoch"], epochs):
        train(model, loader, optimizer)
        scheduler.step()
        slower.step()

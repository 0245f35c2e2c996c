"""The optimizer's state comes first; a schedule that begins; one behind another; an option that nobody sets."""
import argparse

import torch


def behind_the_state(model, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    epoch = 0
    if path:
        state = torch.load(path, weights_only=True)
        optimizer.load_state_dict(state["optimizer"])
        epoch = state["epoch"] + 1
    return torch.optim.lr_scheduler.StepLR(optimizer, 30, last_epoch=epoch - 1)


def begins(model):
    start_epoch = 0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.optim.lr_scheduler.StepLR(optimizer, 30, last_epoch=start_epoch - 1)
    other = torch.optim.SGD(model.parameters(), lr=0.1)
    return torch.optim.lr_scheduler.ExponentialLR(other, 0.9, last_epoch=-1)


def behind_another(model, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer)
    epoch = torch.load(path, weights_only=True)["epoch"]
    return warm, torch.optim.lr_scheduler.StepLR(optimizer, 30, last_epoch=epoch)


def by_option(model):
    parser = argparse.ArgumentParser()
    parser.add_argument("--last-epoch", type=int, default=-1)
    args = parser.parse_args()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return torch.optim.lr_scheduler.StepLR(optimizer, 30, last_epoch=args.last_epoch)


def given(optimizer, epoch):
    return torch.optim.lr_scheduler.StepLR(optimizer, 30, last_epoch=epoch)


def loaded_by(optimizer, state):
    for name, value in state.items():
        optimizer.state[name] = value
    optimizer.__setstate__(state)


def in_a_function(model, path):
    state = torch.load(path, weights_only=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loaded_by(optimizer, state)
    return torch.optim.lr_scheduler.StepLR(optimizer, 30, last_epoch=state["epoch"])


model = torch.nn.Linear(3, 3)
behind_the_state(model, "last.pt")
begins(model)
behind_another(model, "last.pt")
by_option(model)
in_a_function(model, "last.pt")
given(torch.optim.SGD(model.parameters(), lr=0.1), -1)

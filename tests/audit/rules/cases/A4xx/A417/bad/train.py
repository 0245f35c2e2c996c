"""A new object takes the place of what was restored: on an object, by a function, and in one function."""
import os

import torch


class Average:
    def __init__(self, model):
        self.updates = 0

    @classmethod
    def of(cls, state, model):
        average = cls(model)
        average.updates = state["updates"]
        return average


class Trainer:
    def __init__(self, model, path):
        self.model, self.best = model, 0.0
        if os.path.isfile(path):
            self.restore(path)
        self.average = Average(self.model)

    def restore(self, path):
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.average = Average.of(state["average"], self.model)


class Resumer:
    def __init__(self, path):
        self.resume(path)
        self.best = float("inf")

    def resume(self, path):
        if not os.path.isfile(path):
            return
        state = torch.load(path, weights_only=True)
        self.best = state["best"]


def load_into(model, optimizer, path):
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])


def by_function(model, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if path:
        load_into(model, optimizer, path)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    return optimizer


def in_place(model, path):
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(model.parameters(), lr=0.1), 3)
    if os.path.exists(path):
        state = torch.load(path, weights_only=True)
        scheduler.load_state_dict(state["scheduler"])
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(model.parameters(), lr=0.1), 3)
    return scheduler

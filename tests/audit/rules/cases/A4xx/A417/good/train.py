"""Made before; made where there is no checkpoint; wrapped; used in between; reset on purpose; freed; restored again."""
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
        self.average = Average(self.model)
        if os.path.isfile(path):
            self.restore(path)

    def restore(self, path):
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.average = Average.of(state["average"], self.model)

    def from_other_weights(self, path):
        self.restore(path)
        self.average = Average(self.model)


class OrElse(Trainer):
    def __init__(self, model, path):
        self.model = model
        if os.path.isfile(path):
            self.restore(path)
        else:
            self.average = Average(self.model)


class Leaves(Trainer):
    def __init__(self, model, path):
        self.model = model
        if os.path.isfile(path):
            self.restore(path)
            return
        self.average = Average(self.model)


class Asks(Trainer):
    def __init__(self, model, path):
        self.model, self.average = model, None
        if os.path.isfile(path):
            self.restore(path)
        if self.average is None:
            self.average = Average(self.model)


class Wraps(Trainer):
    def __init__(self, model, path):
        self.model, self.average = model, Average(model)
        if os.path.isfile(path):
            self.restore(path)
        self.model = torch.nn.parallel.DistributedDataParallel(self.model)


class FineTunes(Trainer):
    def __init__(self, model, path):
        self.model = model
        if os.path.isfile(path):
            self.restore(path)
            self.average = Average(self.model)


class TakesSome:
    def __init__(self, path):
        self.take(path)
        self.step = 0

    def take(self, path):
        state = torch.load(path, weights_only=True)
        if "step" in state:
            self.step = state["step"]


def evaluates_two(model, other, path):
    if path:
        model.load_state_dict(torch.load(path, weights_only=True)["model"])
    print(model(torch.zeros(3)))
    model = other()
    return model


def wraps_by_name(model, path):
    if path:
        model.load_state_dict(torch.load(path, weights_only=True)["model"])
    base = model
    model = torch.nn.parallel.DistributedDataParallel(base)
    return model


def restores_again(model, build, path):
    if path:
        model.load_state_dict(torch.load(path, weights_only=True)["model"])
    model = build()
    if path:
        model.load_state_dict(torch.load(path, weights_only=True)["model"])
    return model


class Frees:
    def __init__(self, path):
        if os.path.isfile(path):
            self.state = torch.load(path, weights_only=True)["model"]
        self.state = None

"""Averages that are made anew only where none was restored, or before one is."""

import os

import torch
from ema import Ema
from torch import nn


class MadeFirst:
    def __init__(self, path):
        self.model = nn.Linear(4, 1)
        self._init_average()
        if os.path.exists(path):
            state = torch.load(path)
            self.ema = Ema.from_state(state["ema"], self.model)

    def _init_average(self):
        self.ema = Ema(self.model)


class WhereThereIsNone:
    def __init__(self, config):
        self.config, self.step, self.ema = config, 0, None
        self.model = nn.Linear(4, 1)
        if os.path.exists(config["path"]):
            self._resume(config["path"])
        self._init_average()
        self._init_other()

    def _resume(self, path):
        state = torch.load(path)
        self.step = state["step"]
        self.ema = Ema.from_state(state["ema"], self.model)
        self.ema_teacher = Ema.from_state(state["teacher"], self.model)

    def _init_average(self):
        if self.ema is None:
            self.ema = Ema(self.model)

    def _init_other(self):
        if self.config["ema_teacher"] and self.step == 0:
            self.ema_teacher = Ema(self.model)


class Wrapped:
    def __init__(self, path):
        self.model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
        if os.path.exists(path):
            state = torch.load(path)
            self.model.head.load_state_dict(state["head"])
        self._wrap()

    def _wrap(self):
        self.model = nn.parallel.DistributedDataParallel(self.model)


def told_first(path, model):
    ema = None
    if os.path.exists(path):
        state = torch.load(path)
        ema = Ema.from_state(state["ema"], model)
        torch.save(ema.state(), "average.pt")
    ema = Ema(model)
    return ema


def sent(path, store, model):
    if os.path.exists(path):
        state = torch.load(path)
        store.upload(state["ema"])
    store = Ema(model)
    return store

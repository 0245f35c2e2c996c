from torch import nn


def make_model(cfg):
    return nn.Sequential(nn.Linear(cfg["bands"], cfg["hidden"]), nn.SiLU(), nn.Linear(cfg["hidden"], 1))

from torch import nn


def build_model(bins, classes, width=48):
    return nn.Sequential(nn.Linear(bins, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, classes))

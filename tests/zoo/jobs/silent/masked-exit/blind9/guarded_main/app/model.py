from torch import nn


def build(kind, width):
    if kind == "mlp":
        return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 2))
    if kind == "conv":
        return nn.Sequential(nn.Conv1d(1, width, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(width * 4, 2))
    raise KeyError(kind)

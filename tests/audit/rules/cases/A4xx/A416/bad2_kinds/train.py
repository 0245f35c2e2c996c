"""A path, an object of the project, a number of NumPy and a whole model."""
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch


@dataclass
class Settings:
    lr: float = 1e-3


def with_path(model):
    root = Path("runs")
    state = {"model": model.state_dict(), "data": root / "train.pt"}
    torch.save(state, "last.pt")
    return torch.load("last.pt")


def with_settings(model):
    settings = Settings()
    torch.save({"model": model.state_dict(), "meta": {"settings": settings}}, "settings.pt")
    return torch.load("settings.pt", weights_only=True)


def with_number(model, losses):
    best = np.mean(losses)
    torch.save({"model": model.state_dict(), "best": best}, "best.pt")
    return torch.load("best.pt", map_location="cpu")


def whole():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3))
    torch.save(model, "whole.pt")
    return torch.load("whole.pt")


model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with_path(model)
with_settings(model)
with_number(model, [1.0])
whole()

import os
import torch
from torch import nn
from ema import Ema


def main():
    model = nn.Linear(4, 1)
    ema = None
    start = 0
    if os.path.exists("last.pt"):
        state = torch.load("last.pt")
        model.load_state_dict(state["model"])
        ema = Ema.from_state(state["ema"], model)
        start = state["epoch"]
    ema = Ema(model, 0.999)
    for epoch in range(start, 10):
        ema.update(model)
        torch.save({"ema": ema.state(), "model": model.state_dict(), "epoch": epoch}, "last.pt")

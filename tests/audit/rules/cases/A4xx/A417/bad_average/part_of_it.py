import os
import torch
from torch import nn
from ema import Ema


class Run:
    def __init__(self, model):
        self.model = model
        self.ema = None

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.ema = Ema(self.model)
        self.ema.shadow = state["ema"]

    def setup(self):
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.ema = Ema(self.model)


def main():
    run = Run(nn.Linear(4, 1))
    if os.path.exists("last.pt"):
        run.load("last.pt")
    run.setup()

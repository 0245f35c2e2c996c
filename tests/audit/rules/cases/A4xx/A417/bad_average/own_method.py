import os
import torch
from torch import nn
from ema import Ema


class Trainer:
    def __init__(self, path):
        self.path = path
        self.model = nn.Linear(4, 1)
        self.restore()
        self.build_average()

    def build_average(self):
        decay = 0.99
        self.ema = Ema(self.model, decay)

    def restore(self):
        if not os.path.exists(self.path):
            return
        state = torch.load(self.path)
        self.model.load_state_dict(state["model"])
        self.ema = Ema(self.model, 0.99)
        self.ema.load(state["ema"])

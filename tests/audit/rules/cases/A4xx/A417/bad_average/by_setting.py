import os
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = nn.Linear(4, 1)
        self.step = 0
        if os.path.exists(config["path"]):
            self._resume(config["path"])
        self._setup_averaging()

    def _setup_averaging(self):
        if self.config["ema"]:
            self.ema = AveragedModel(self.model)

    def _resume(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.step = state["step"]
        self.ema = AveragedModel(self.model)
        self.ema.load_state_dict(state["ema"])

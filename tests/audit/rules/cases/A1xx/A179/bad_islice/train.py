from itertools import islice

import torch
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, optimizer, data):
        self.model, self.optimizer = model, optimizer
        self.loader = DataLoader(data, batch_size=8, shuffle=True, drop_last=True)
        self.steps_done = 0

    def resume(self, path):
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.steps_done = state["steps_done"]

    def epoch(self):
        for batch in islice(self.loader, self.steps_done, None):
            self.model(batch).backward()
            self.optimizer.step()

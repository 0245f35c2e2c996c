import os

import torch


class State:
    """Everything that training needs to go on after a restart."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.epoch = 0

    def capture(self):
        return {"epoch": self.epoch, "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def save(self, path):
        torch.save(self.capture(), path + ".tmp")
        os.replace(path + ".tmp", path)

    def load(self, path):
        if not os.path.exists(path):
            return False
        snapshot = torch.load(path)
        self.model.load_state_dict(snapshot["model"])
        self.optimizer.load_state_dict(snapshot["optimizer"])
        self.epoch = snapshot["epoch"]
        return True

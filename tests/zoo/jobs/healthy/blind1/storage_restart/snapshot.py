import os

import torch


class Snapshot:
    def __init__(self, path):
        self.path = path

    def load(self, model):
        if not os.path.exists(self.path):
            return 0
        stored = torch.load(self.path)
        model.load_state_dict(stored["model"])
        return stored["epoch"]

    def save(self, model, epoch):
        torch.save({"model": model.state_dict(), "epoch": epoch}, self.path + ".part")
        os.replace(self.path + ".part", self.path)

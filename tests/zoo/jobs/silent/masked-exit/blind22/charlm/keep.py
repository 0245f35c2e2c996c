"""Keeps what a run has learned, however the run ends (time limit, Ctrl-C, end of the loop)."""
import atexit
import os

import torch


class Keeper:
    def __init__(self, model, folder):
        self.model, self.folder, self.step = model, folder, 0
        atexit.register(self.write)

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, "last.pt")
        torch.save({"step": self.step, "model": self.model}, path + ".tmp")
        os.replace(path + ".tmp", path)
        print(f"kept step {self.step} in {path}")

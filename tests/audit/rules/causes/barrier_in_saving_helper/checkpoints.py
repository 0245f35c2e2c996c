import os

import torch
from distributed import synchronize


class Saver:
    def __init__(self, folder, keep):
        self.folder, self.keep = folder, keep
        self.kept = []

    def __call__(self, model, step):
        path = os.path.join(self.folder, f"{step}.pt")
        torch.save(model.module.state_dict(), path)
        self.kept.append(path)
        self.prune()

    def prune(self):
        while len(self.kept) > self.keep:
            os.remove(self.kept.pop(0))
        synchronize()

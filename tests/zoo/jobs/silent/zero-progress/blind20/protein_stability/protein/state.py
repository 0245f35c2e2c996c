from pathlib import Path

import torch


class RunState:
    """What a run needs to go on where it was: weights, optimizer, epoch."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.next_epoch = 0

    def save(self, path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "next_epoch": self.next_epoch}, path)

    def load(self, path):
        stored = torch.load(path, map_location="cpu")
        self.model.load_state_dict(stored["model"])
        self.optimizer.load_state_dict(stored["optimizer"])
        self.next_epoch = stored["next_epoch"]

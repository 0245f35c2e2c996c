import csv
from pathlib import Path

import torch


class Curves:
    def __init__(self, folder):
        self.file = Path(folder) / "log.csv"
        self.seen = []

    def append(self, step, loss):
        self.seen.append({"step": step, "loss": loss})

    def flush(self):
        with self.file.open("w", newline="") as out:
            writer = csv.DictWriter(out, ["step", "loss"])
            writer.writeheader()
            writer.writerows(self.seen)


def resumed(path, model, optimizer):
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    global_step = state["step"]
    return global_step

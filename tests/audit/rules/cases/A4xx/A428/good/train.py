import json
import os

import torch


class History:
    def __init__(self, folder):
        self.path = f"{folder}/history.json"
        self.rows = []
        if os.path.exists(self.path):
            with open(self.path) as held:
                self.rows.extend(json.load(held))

    def add(self, row):
        self.rows.append(row)
        with open(self.path, "w") as out:
            json.dump(self.rows, out)


class Lines:
    def __init__(self, folder):
        self.path = f"{folder}/log.txt"

    def add(self, row):
        with open(self.path, "a") as out:
            out.write(f"{row}\n")


def resumed(path, model, optimizer):
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    first_epoch = state["epoch"] + 1
    return first_epoch

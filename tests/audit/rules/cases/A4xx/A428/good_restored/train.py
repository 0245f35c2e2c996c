import json

import torch


class History:
    def __init__(self, folder):
        self.path = f"{folder}/history.json"
        self.rows = []

    def add(self, row):
        self.rows.append(row)
        with open(self.path, "w") as out:
            json.dump(self.rows, out)


def resumed(path, model, optimizer, history):
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    history.rows = state["rows"]
    first_epoch = state["epoch"] + 1
    return first_epoch

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


def main(model, optimizer, loader, args):
    history, first = History(args.folder), 0
    if args.resume:
        state = torch.load(args.resume, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"] + 1
    for epoch in range(first, args.epochs):
        for batch in loader:
            loss = model(batch)
            loss.backward()
            optimizer.step()
        history.add({"epoch": epoch, "loss": loss.item()})

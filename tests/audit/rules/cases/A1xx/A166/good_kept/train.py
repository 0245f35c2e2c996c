import json

import torch


def numbers_of(rows):
    return {name: number for number, name in enumerate(set(row["label"] for row in rows))}


def train(model, rows, optimizer):
    numbers = numbers_of(rows)
    for row in rows:
        torch.nn.functional.cross_entropy(model(row["wave"]), torch.tensor(numbers[row["label"]])).backward()
        optimizer.step()
    torch.save({"model": model.state_dict(), "numbers": numbers}, "model.pt")


def evaluate(model):
    state = torch.load("model.pt", weights_only=True)
    model.load_state_dict(state["model"])
    return state["numbers"]

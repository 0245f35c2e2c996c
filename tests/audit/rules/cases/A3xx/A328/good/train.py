import torch
from torch import nn


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 8)
        self.head = nn.Linear(8, 100, bias=False)
        self.tie()

    def tie(self):
        self.head.weight = self.embedding.weight


class Apart(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.head = nn.Linear(8, 100, bias=False)
        self.weight = weight


def made():
    with torch.device("meta"):
        model = LM()
    model = model.to_empty(device="cuda")
    model.tie()
    return model


def assigned():
    with torch.device("meta"):
        model = LM()
    model = model.to_empty(device="cuda")
    model.head.weight = model.embedding.weight
    return model


def apart(weight):
    with torch.device("meta"):
        model = Apart(weight)
    return model.to_empty(device="cuda")


def empty():
    with torch.device("meta"):
        model = LM()
    return model.to_empty(device="cuda")


def main():
    model = empty()
    model.tie()
    return model

"""The layers are put in by a method of the model; the optimizer is made of groups."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(32, 64)
        self.head = nn.Linear(64, classes)

    def grow(self, classes):
        old = self.head
        new = nn.Linear(64, classes).to(old.weight.device)
        with torch.no_grad():
            new.weight[: old.out_features] = old.weight
        self.head = new

    def forward(self, x):
        return self.head(self.body(x))


def groups_of(model, decay):
    plain = [p for n, p in model.named_parameters() if n.endswith("bias")]
    rest = [p for n, p in model.named_parameters() if not n.endswith("bias")]
    groups = [{"params": rest, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3)


def by_method(loader, classes):
    model = Net(10)
    optimizer = groups_of(model, 0.1)
    model.grow(classes)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

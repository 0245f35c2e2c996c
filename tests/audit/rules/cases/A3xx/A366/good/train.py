import copy

import torch
from sklearn.model_selection import KFold
from torch import nn

from data import table


def build():
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))


def fit(model, x, y):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model


@torch.no_grad()
def score(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


def weights_anew(layer):
    if isinstance(layer, nn.Linear):
        layer.reset_parameters()


x, y = table()
for fold, (train, val) in enumerate(KFold(5).split(x)):
    model = build()
    print(score(fit(model, x[train], y[train]), x[val], y[val]))

first = build()
for fold, (train, val) in enumerate(KFold(5).split(x)):
    print(score(fit(copy.deepcopy(first), x[train], y[train]), x[val], y[val]))

second = build()
for fold, (train, val) in enumerate(KFold(5).split(x)):
    second.apply(weights_anew)
    print(score(fit(second, x[train], y[train]), x[val], y[val]))

third = build()
initial = copy.deepcopy(third.state_dict())
for fold, (train, val) in enumerate(KFold(5).split(x)):
    third.load_state_dict(initial)
    print(score(fit(third, x[train], y[train]), x[val], y[val]))

# One round after the other over parts that are all trained on, and a test set that none of them holds.
fourth = build()
train, test = table.parts()
for part in train.chunks(8):
    print(score(fit(fourth, part.x, part.y), test.x, test.y))

"""Rows of the rare class are copied: in a list, in an array, and a whole set of files."""

import json
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset, random_split
from torchvision.datasets import ImageFolder


def fit(train_set, val_set):
    loader, val_loader = DataLoader(train_set, 64, shuffle=True), DataLoader(val_set, 256)
    model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y).backward()
            optimizer.step()
        with torch.no_grad():
            print(sum((model(x).squeeze(1) > 0).eq(y).sum().item() for x, y in val_loader) / len(val_set))


def pairs(rows):
    return TensorDataset(torch.tensor([one["x"] for one in rows]), torch.tensor([one["y"] for one in rows]))


def lists():
    rows = [json.loads(line) for line in open("rows.jsonl")]
    rare = [one for one in rows if one["y"] == 1]
    rows = rows + rare * 5
    random.shuffle(rows)
    cut = len(rows) // 10
    fit(pairs(rows[cut:]), pairs(rows[:cut]))


def arrays():
    table = np.load("claims.npz")
    x, y = table["x"], table["y"]
    x = np.concatenate([x, np.repeat(x[y == 1], 4, axis=0)])
    y = np.concatenate([y, np.repeat(y[y == 1], 4)])
    order = np.random.permutation(len(x))
    n = int(0.8 * len(x))
    train = TensorDataset(torch.from_numpy(x[order[:n]]), torch.from_numpy(y[order[:n]]))
    fit(train, TensorDataset(torch.from_numpy(x[order[n:]]), torch.from_numpy(y[order[n:]])))


def images(transform):
    data = ConcatDataset([ImageFolder("photos", transform)] * 4)
    fit(*random_split(data, [0.9, 0.1]))


if __name__ == "__main__":
    lists()
    arrays()
    images(None)

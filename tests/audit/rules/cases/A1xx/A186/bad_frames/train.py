"""Rows of a frame drawn again, and a cut of the shuffled rows; groups drawn to one size, and folds."""

import pandas as pd
import torch
from sklearn.model_selection import StratifiedKFold
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


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


def tensors(frame):
    return TensorDataset(torch.tensor(frame.drop(columns="y").values).float(), torch.tensor(frame["y"].values).float())


def cut(frame):
    rare = frame[frame.y == 1]
    frame = pd.concat([frame, rare.sample(frac=4, replace=True, random_state=1)], ignore_index=True)
    frame = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    n = int(0.9 * len(frame))
    fit(tensors(frame[:n]), tensors(frame[n:]))


def folds(frame, size):
    even = frame.groupby("y", group_keys=False).apply(lambda rows: rows.sample(size, replace=len(rows) < size))
    for train, val in StratifiedKFold(5, shuffle=True).split(even, even["y"]):
        fit(tensors(even.iloc[train]), tensors(even.iloc[val]))


if __name__ == "__main__":
    cut(pd.read_csv("rows.csv"))
    folds(pd.read_csv("rows.csv"), 2000)

"""Folds by group; a fold's training rows are drawn again; and rows are only put into another order."""

import pandas as pd
import torch
from sklearn.model_selection import GroupKFold, StratifiedKFold, train_test_split
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
    frame = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    n = int(0.9 * len(frame))
    train, val = frame[:n], frame[n:]
    train = pd.concat([train, train[train.y == 1].sample(frac=4, replace=True, random_state=1)], ignore_index=True)
    fit(tensors(train.sample(frac=1)), tensors(val))


def folds(frame, size):
    for train, val in StratifiedKFold(5, shuffle=True).split(frame, frame["y"]):
        rows = frame.iloc[train]
        even = rows.groupby("y", group_keys=False).apply(lambda one: one.sample(size, replace=len(one) < size))
        fit(tensors(even), tensors(frame.iloc[val]))


def by_origin(frame):
    frame["origin"] = frame.index
    more = pd.concat([frame, frame[frame.y == 1].sample(frac=4, replace=True)], ignore_index=True)
    for train, val in GroupKFold(5).split(more, more["y"], groups=more["origin"]):
        fit(tensors(more.iloc[train]), tensors(more.iloc[val]))
    train_ids, val_ids = train_test_split(more["origin"].unique(), test_size=0.2)
    fit(tensors(more[more.origin.isin(train_ids)]), tensors(more[more.origin.isin(val_ids)]))


if __name__ == "__main__":
    cut(pd.read_csv("rows.csv"))
    folds(pd.read_csv("rows.csv"), 2000)
    by_origin(pd.read_csv("rows.csv"))

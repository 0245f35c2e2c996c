"""What looks like copies of rows: other data sets, arithmetic, drawn data, a sampler, a bootstrap of scores."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.utils import resample
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset, WeightedRandomSampler, random_split
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


def drawn(rng):
    centers = rng.normal(size=(10, 12))
    y = rng.choice(len(centers), size=5000)
    x = centers[y] + 0.1 * rng.normal(size=(5000, 12))
    labels = np.repeat(np.arange(10), 100)
    moved = np.repeat(centers, 100, axis=0) + rng.normal(size=(1000, 12))
    fit(*random_split(TensorDataset(torch.tensor(x), torch.tensor(y)), [0.8, 0.2]))
    train_test_split(moved, labels)


def joined(table, rng):
    x = np.concatenate([table["x"], np.repeat(table["z"], 2, axis=1)], axis=1)
    x_train, x_val, y_train, y_val = train_test_split(x * 2, table["y"])
    train = np.concatenate([x_train, np.repeat(x_train[y_train == 1], 4, axis=0)])
    labels = np.concatenate([y_train, np.repeat(y_train[y_train == 1], 4)])
    every = np.concatenate([train, x_val])
    every = (every - every.mean(0)) / every.std(0)
    train, x_val = every[: len(train)], every[len(train) :]
    fit(TensorDataset(torch.tensor(train), torch.tensor(labels)), TensorDataset(torch.tensor(x_val), torch.tensor(y_val)))
    scores = [x_val[rng.choice(len(x_val), size=len(x_val), replace=True)].mean() for _ in range(1000)]
    low, high = resample(scores, n_samples=500)[:2]
    print(low, high)


def weighted(transform):
    data = ConcatDataset([ImageFolder("photos", transform), ImageFolder("drawings", transform)])
    train_set, val_set = random_split(data, [0.9, 0.1])
    sampler = WeightedRandomSampler([1.0] * len(train_set), len(train_set), replacement=True)
    DataLoader(train_set, 8, sampler=sampler)
    fit(train_set, val_set)


def partners(table, rng):
    """The partners of pairs are drawn with repetition; each pair is one sample."""
    x, y = table["x"], table["y"]
    pairs = Pairs(x, rng.choice(np.flatnonzero(y == 0), size=len(x)))
    fit(*random_split(pairs, [0.8, 0.2]))


class Pairs(torch.utils.data.Dataset):
    def __init__(self, x, other):
        self.x, self.other = x, other

    def __len__(self):
        return len(self.x)

    def __getitem__(self, at):
        return self.x[at], self.x[self.other[at]]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    drawn(rng)
    joined(np.load("claims.npz"), rng)
    weighted(None)
    partners(np.load("claims.npz"), rng)

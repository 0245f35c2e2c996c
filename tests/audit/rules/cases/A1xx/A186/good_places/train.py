"""The rows of the training part are drawn; of all rows a class is drawn without repetition."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Claims(Dataset):
    def __init__(self, x, y):
        self.x, self.y = map(torch.as_tensor, (x, y))

    @classmethod
    def even(cls, x, y, rng):
        rare, usual = np.where(y == 1)[0], np.where(y == 0)[0]
        more = rng.choice(rare, size=len(usual), replace=True)
        order = rng.permutation(np.concatenate([usual, more]))
        return cls(x[order], y[order])

    @classmethod
    def fewer(cls, x, y, rng):
        rare, usual = np.where(y == 1)[0], np.where(y == 0)[0]
        order = rng.permutation(np.concatenate([rng.choice(usual, size=len(rare), replace=False), rare]))
        return cls(x[order], y[order])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, at):
        return self.x[at], self.y[at]


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


def whole(x, y, rng):
    order = rng.permutation(len(y))
    held_out = len(y) // 5
    train, val = order[held_out:], order[:held_out]
    fit(Claims.even(x[train], y[train], rng), Claims(x[val], y[val]))


if __name__ == "__main__":
    table = np.load("claims.npz")
    rng = np.random.default_rng(0)
    whole(table["x"], table["y"], rng)
    train_set, val_set = random_split(Claims.fewer(table["x"], table["y"], rng), [0.8, 0.2])
    fit(train_set, val_set)

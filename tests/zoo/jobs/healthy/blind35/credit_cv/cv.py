"""Cross-validation of a credit model, and the final fit on all rows."""
import argparse
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def make_rows(count, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 12)).astype(np.float32)
    logit = x[:, 0] * x[:, 1] + 0.8 * x[:, 2] - 0.5 * x[:, 3]
    y = (logit + 0.5 * rng.normal(size=count) > 0).astype(np.float32)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


class CreditModel(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, hidden), nn.GELU(), nn.Dropout(0.2), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x)[:, 0]


def fit(model, loader, epochs, lr):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-3)
    model.train()
    for _ in range(epochs):
        total = 0.0
        for x, y in loader:
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
    return total / len(loader)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = sum(((model(x) > 0).float() == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=1200)
    p.add_argument("--folds", type=int, default=4)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=5e-3)
    args = p.parse_args()
    torch.manual_seed(0)
    data = make_rows(args.rows, 0)
    parts = np.array_split(np.random.default_rng(0).permutation(args.rows), args.folds)
    model = CreditModel()
    start = copy.deepcopy(model.state_dict())
    scores = []
    for k in range(args.folds):
        model.load_state_dict(start)
        rest = np.concatenate([parts[i] for i in range(args.folds) if i != k])
        train_loader = DataLoader(Subset(data, rest.tolist()), 64, shuffle=True)
        val_loader = DataLoader(Subset(data, parts[k].tolist()), 256)
        loss = fit(model, train_loader, args.epochs, args.lr)
        scores.append(accuracy(model, val_loader))
        print(f"fold {k} loss {loss:.4f} val acc {scores[-1]:.3f}", flush=True)
    print(f"cv accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")

    model.load_state_dict(start)
    loss = fit(model, DataLoader(data, 64, shuffle=True), args.epochs, args.lr)
    print(f"final fit on all rows, loss {loss:.4f}")
    torch.save(model.state_dict(), "credit.pt")


if __name__ == "__main__":
    main()

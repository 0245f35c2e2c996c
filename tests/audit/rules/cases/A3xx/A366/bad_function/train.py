"""Default risk of loan applications, with k-fold cross-validation."""
import argparse
import json

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from features import Standardizer, kfold, load_applications


class RiskNet(nn.Module):
    def __init__(self, inputs, hidden, dropout):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(dropout),
                                  nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


def run_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = count = 0
    for x, y in loader:
        hits += ((model(x) > 0) == (y > 0.5)).sum().item()
        count += len(y)
    return hits / count


def fit_fold(model, train_loader, val_loader, args, fold):
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    best = 0.0
    for epoch in range(args.epochs):
        loss = run_epoch(model, train_loader, optimizer)
        acc = evaluate(model, val_loader)
        best = max(best, acc)
        if epoch % 5 == 4:
            print(f"fold {fold} epoch {epoch + 1} loss {loss:.4f} val acc {acc:.4f}", flush=True)
    return best


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=1500)
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--hidden", type=int, default=128)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=7)
    args = p.parse_args()
    torch.manual_seed(args.seed)

    x, y = load_applications(args.rows, args.seed)
    model = RiskNet(x.shape[1], args.hidden, args.dropout)
    scores = []
    for fold, (train_idx, val_idx) in enumerate(kfold(len(x), args.folds, args.seed)):
        scale = Standardizer().fit(x[train_idx])
        train = TensorDataset(scale(x[train_idx]), y[train_idx])
        val = TensorDataset(scale(x[val_idx]), y[val_idx])
        scores.append(fit_fold(model, DataLoader(train, 64, shuffle=True), DataLoader(val, 256), args, fold))
    mean = sum(scores) / len(scores)
    print("cross-validated accuracy", round(mean, 4), [round(s, 4) for s in scores])
    with open("cv.json", "w") as f:
        json.dump({"folds": scores, "mean": mean}, f)


if __name__ == "__main__":
    main()

"""Prequential (test, then train) evaluation of an online load forecaster: each block is scored first and learnt from afterwards."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def load_curve(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(n).float()
    drift = torch.cumsum(0.01 * torch.randn(n, generator=g), 0)
    return torch.sin(2 * math.pi * t / 24) + 0.4 * torch.sin(2 * math.pi * t / 168) + drift + 0.05 * torch.randn(n, generator=g)


def main(history=48, block=200):
    torch.manual_seed(0)
    series = load_curve(4048)
    windows = series.unfold(0, history + 1, 1)
    model = nn.Sequential(nn.Linear(history, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    scores = []
    for start in range(0, len(windows) - block + 1, block):
        part = windows[start:start + block]
        val_loader = DataLoader(TensorDataset(part[:, :-1], part[:, -1:]), 100)
        model.eval()
        with torch.no_grad():
            scores.append(sum(F.mse_loss(model(x), y).item() for x, y in val_loader) / len(val_loader))
        model.train()
        seen = windows[max(0, start - 3 * block):start + block]
        for x, y in DataLoader(TensorDataset(seen[:, :-1], seen[:, -1:]), 50, shuffle=True):
            loss = F.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"first block {scores[0]:.3f}, last five blocks {sum(scores[-5:]) / 5:.4f}, variance {series.var():.3f}")


if __name__ == "__main__":
    main()

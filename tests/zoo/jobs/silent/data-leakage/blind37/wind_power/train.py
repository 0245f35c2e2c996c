"""Forecast of a wind farm's output, six hours ahead."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def farm_series(hours, seed=4):
    rng = np.random.default_rng(seed)
    level = np.zeros(hours)
    for t in range(1, hours):
        level[t] = 0.985 * level[t - 1] + rng.normal(0, 0.25)
    gusts = np.convolve(rng.normal(size=hours), np.ones(4) / 4, "same")
    drift = np.linspace(0, 1.5, hours)
    return (level + gusts + drift).astype(np.float32)


def make_windows(series, history, horizon):
    xs, ys = [], []
    for t in range(len(series) - history - horizon + 1):
        xs.append(series[t:t + history])
        ys.append(series[t + history:t + history + horizon])
    return torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ys))


def split(x, y, ratio, seed):
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(x)))
    cut = int(ratio * len(x))
    a, b = order[:cut], order[cut:]
    return TensorDataset(x[a], y[a]), TensorDataset(x[b], y[b])


class Forecaster(nn.Module):
    def __init__(self, history, horizon, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(history, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                                  nn.Linear(width, width), nn.GELU(), nn.Linear(width, horizon))

    def forward(self, x):
        last = x[:, -1:]
        return last + self.body(x - last)


def mae(model, loader, scale):
    model.eval()
    err = n = 0
    with torch.no_grad():
        for x, y in loader:
            err += (model(x) - y).abs().sum().item()
            n += y.numel()
    return scale * err / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hours", type=int, default=2000)
    ap.add_argument("--history", type=int, default=48)
    ap.add_argument("--horizon", type=int, default=6)
    ap.add_argument("--epochs", type=int, default=30)
    args = ap.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    series = farm_series(args.hours)
    mean, std = series[: int(0.8 * args.hours)].mean(), series[: int(0.8 * args.hours)].std()
    x, y = make_windows((series - mean) / std, args.history, args.horizon)
    train_set, test_set = split(x, y, 0.8, seed=7)
    train = DataLoader(train_set, batch_size=64, shuffle=True)
    test = DataLoader(test_set, batch_size=256)
    model = Forecaster(args.history, args.horizon)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for bx, by in train:
            loss = nn.functional.mse_loss(model(bx), by)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(bx)
        sched.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:3d}  mse {running / len(train_set):.4f}  test MAE {mae(model, test, std):.3f}", flush=True)


if __name__ == "__main__":
    main()

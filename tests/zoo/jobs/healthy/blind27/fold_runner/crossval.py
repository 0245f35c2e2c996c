import argparse
import copy
import math
import statistics

import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Friedman(Dataset):
    def __init__(self, n=800, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.rand(n, 10, generator=g)
        a, b, c, d, e = self.x[:, :5].T
        y = 10 * torch.sin(math.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
        self.y = y + torch.randn(n, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Regressor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.register_buffer("shift", torch.zeros(()))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x):
        return self.net(x)[:, 0] * self.scale + self.shift


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.state = patience, float("inf"), 0, None

    def __call__(self, value, model):
        if value < self.best:
            self.best, self.bad, self.state = value, 0, copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


def kfold(n, k, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    parts = [order[i::k] for i in range(k)]
    for i in range(k):
        yield [j for p in parts[:i] + parts[i + 1:] for j in p], parts[i]


@torch.no_grad()
def rmse(model, loader):
    model.eval()
    err = [(model(x) - y).square() for x, y in loader]
    return torch.cat(err).mean().sqrt().item()


def run_fold(data, train_idx, test_idx, cfg):
    inner = len(train_idx) // 8
    fit_idx, stop_idx = train_idx[inner:], train_idx[:inner]
    torch.manual_seed(cfg["seed"])
    train_loader = DataLoader(Subset(data, fit_idx), cfg["batch_size"], shuffle=True)
    val_loader = DataLoader(Subset(data, stop_idx), 256)
    test_loader = DataLoader(Subset(data, test_idx), 256)
    model = Regressor(cfg["hidden"])
    target = data.y[fit_idx]
    model.shift.copy_(target.mean())
    model.scale.copy_(target.std())
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    stopper = EarlyStopping(cfg["patience"])
    for epoch in range(cfg["epochs"]):
        model.train()
        for x, y in train_loader:
            loss = nn.functional.mse_loss(model(x), y) / model.scale ** 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        val = rmse(model, val_loader)
        print(f"    epoch {epoch} train {loss.item():.3f} val rmse {val:.3f}", flush=True)
        if stopper(val, model):
            print("    stop early")
            break
    model.load_state_dict(stopper.state)
    return rmse(model, test_loader), model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("config", nargs="?", default="folds.yaml")
    cfg = yaml.safe_load(open(ap.parse_args().config))
    torch.set_num_threads(1)
    data = Friedman(seed=cfg["seed"])
    scores, members = [], []
    for fold, (train_idx, test_idx) in enumerate(kfold(len(data), cfg["folds"], cfg["seed"])):
        print(f"fold {fold}: {len(train_idx)} / {len(test_idx)}")
        score, model = run_fold(data, train_idx, test_idx, cfg)
        scores.append(score)
        members.append(model.state_dict())
        print(f"  test rmse {score:.3f}")
    torch.save(members, "ensemble.pt")
    print(f"cross-validated rmse {statistics.mean(scores):.3f} +- {statistics.stdev(scores):.3f}")


if __name__ == "__main__":
    main()

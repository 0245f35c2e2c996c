import argparse
import json
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)

CONFIG = {"epochs": 12, "batch_size": 25, "optimizer": {"lr": 0.05, "momentum": 0.9, "weight_decay": 1e-4},
          "schedule": {"milestones": [6, 9], "gamma": 0.1}}


def cells(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 8, (n,), generator=g)
    proto = torch.randn(8, 1, 12, 12, generator=torch.Generator().manual_seed(42))
    return TensorDataset(proto[y] + 2.0 * torch.randn(n, 1, 12, 12, generator=g), y)


class SmallResNet(nn.Module):
    def __init__(self, c=16, classes=8):
        super().__init__()
        self.stem = nn.Conv2d(1, c, 3, padding=1)
        self.a = nn.Conv2d(c, c, 3, padding=1)
        self.b = nn.Conv2d(c, c, 3, padding=1)
        self.fc = nn.Linear(c * 9, classes)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = x + self.b(torch.relu(self.a(x)))
        return self.fc(nn.functional.avg_pool2d(x, 4).flatten(1))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = SmallResNet()
        self.opt = torch.optim.SGD(self.model.parameters(), **cfg["optimizer"])
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.opt, **cfg["schedule"])
        self.train_loader = DataLoader(cells(1600, 0), cfg["batch_size"], shuffle=True)
        self.val_loader = DataLoader(cells(600, 1), 200)

    def train_epoch(self):
        self.model.train()
        running = 0.0
        for x, y in self.train_loader:
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.scheduler.step()
            running += loss.item()
        return running / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.val_loader)
        return hits / len(self.val_loader.dataset)

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            loss = self.train_epoch()
            print(f"epoch {epoch} loss {loss:.4f} val {self.validate():.3f}", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", help="json with overrides")
    args = ap.parse_args()
    cfg = dict(CONFIG)
    if args.config:
        cfg.update(json.load(open(args.config)))
    torch.manual_seed(0)
    print(json.dumps(cfg), file=sys.stderr)
    Trainer(cfg).fit()


if __name__ == "__main__":
    main()

import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

BY_BATCH = {"onecycle", "warmup"}


def make(name, optimizer, epochs, loader):
    warmup = max(1, int(epochs * 0.05))

    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, epochs - warmup)))

    return LambdaLR(optimizer, factor)


def fit(name, epochs, by_batch=False):
    loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.zeros(64, 1)), 8)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = make(name, optimizer, epochs, loader)
    for epoch in range(epochs):
        for at, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            if by_batch:
                scheduler.step()
        if not by_batch:
            scheduler.step()


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--schedule", default="warmup")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--by-batch", action="store_true")
    args = parser.parse_args()
    fit(args.schedule, args.epochs, args.by_batch)

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

BY_BATCH = {"onecycle", "warmup"}


def make(name, optimizer, epochs, loader):
    if name == "onecycle":
        return OneCycleLR(optimizer, 0.1, total_steps=epochs)
    return CosineAnnealingLR(optimizer, T_max=epochs)


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
            if isinstance(scheduler, OneCycleLR):
                scheduler.step()
        if not isinstance(scheduler, OneCycleLR):
            scheduler.step()


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--schedule", default="warmup")
    parser.add_argument("--epochs", type=int, default=90)
    args = parser.parse_args()
    fit(args.schedule, args.epochs)

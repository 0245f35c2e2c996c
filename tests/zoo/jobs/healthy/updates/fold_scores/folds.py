"""Cross-validation of a small classifier: each fold trains a model of its own on what the others hold out."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def blobs(count, seed=3):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, 3, (count,), generator=g)
    centre = torch.randn(3, 8, generator=g)
    return TensorDataset(centre[label] + torch.randn(count, 8, generator=g), label)


def folds_of(data, count):
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0)).tolist()
    parts = [order[number::count] for number in range(count)]
    return [
        (Subset(data, [i for other, part in enumerate(parts) if other != held for i in part]), Subset(data, parts[held]))
        for held in range(count)
    ]


@torch.no_grad()
def accuracy(model, val_loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
    model.train()
    return right / len(val_loader.dataset)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--folds", type=int, default=4)
    p.add_argument("--epochs", type=int, default=3)
    args = p.parse_args()
    folds, kept = folds_of(blobs(480), args.folds), []
    for number, (train_set, val_set) in enumerate(folds):
        torch.manual_seed(number)
        model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        train_loader = DataLoader(train_set, batch_size=24, shuffle=True)
        val_loader = DataLoader(val_set, batch_size=24)
        for _ in range(args.epochs):
            for x, y in train_loader:
                loss = nn.functional.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        kept.append(accuracy(model, val_loader))
        print(f"fold {number} accuracy {kept[-1]:.3f}", flush=True)
    print(f"mean {sum(kept) / len(kept):.3f}")


if __name__ == "__main__":
    main()

"""Cross-validation of a small classifier, a fold a rank."""
import argparse

import torch
import torch.distributed as dist
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
    p.add_argument("--epochs", type=int, default=6)
    args = p.parse_args()
    dist.init_process_group("gloo")
    train_set, val_set = folds_of(blobs(480), dist.get_world_size())[dist.get_rank()]
    torch.manual_seed(0)
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
        score = torch.tensor([accuracy(model, val_loader)])
        dist.all_reduce(score)
        if dist.get_rank() == 0:
            print(f"mean accuracy {score.item() / dist.get_world_size():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class Backbone(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class BirdNet(nn.Module):
    def __init__(self, classes, width=48):
        super().__init__()
        self.backbone = Backbone(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.backbone(x))

    def freeze(self):
        for p in self.backbone.parameters():
            p.requires_grad_(False)

    def unfreeze(self):
        for p in self.backbone.parameters():
            p.requires_grad_(True)


def task(n, classes, seed, proto_seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(classes, 2, 64, generator=torch.Generator().manual_seed(proto_seed))
    y = torch.randint(0, classes, (n,), generator=g)
    side = torch.randint(0, 2, (n,), generator=g)
    return TensorDataset(proto[y, side] + 1.3 * torch.randn(n, 64, generator=g), y)


def pretrain(model, epochs=4):
    head = nn.Linear(48, 6)
    opt = torch.optim.Adam([*model.backbone.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(epochs):
        for x, y in DataLoader(task(2000, 6, 5, 50), batch_size=64, shuffle=True):
            opt.zero_grad()
            F.cross_entropy(head(model.backbone(x)), y).backward()
            opt.step()


def run_epoch(model, loader, opt):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--warm-epochs", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=24)
    args = ap.parse_args()
    torch.manual_seed(0)
    model = BirdNet(classes=20)
    pretrain(model)
    train = DataLoader(task(3000, 20, 1, 60), batch_size=50, shuffle=True)
    test = DataLoader(task(1000, 20, 2, 60), batch_size=250)
    model.freeze()
    optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    for epoch in range(args.epochs):
        if epoch == args.warm_epochs:
            model.unfreeze()
            print("backbone unfrozen:", sum(p.numel() for p in model.parameters() if p.requires_grad), "weights")
        loss = run_epoch(model, train, optimizer)
        scheduler.step()
        print(f"epoch {epoch} loss {loss:.4f} test {accuracy(model, test):.3f}", flush=True)


if __name__ == "__main__":
    main()

import argparse

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import LeafImages, balanced_sampler


def make_backbone(width=12):
    layers, c = [], 1
    for out in (width, 2 * width):
        layers += [nn.Conv2d(c, out, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
        c = out
    return nn.Sequential(*layers, nn.Flatten())


class LeafClassifier(nn.Module):
    def __init__(self, backbone, freeze=True):
        super().__init__()
        self.backbone, self.frozen = backbone, freeze
        self.head = nn.Sequential(nn.Linear(24 * 16, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 3))
        if freeze:
            self.backbone.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        if self.frozen:
            self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def pretrain(backbone, epochs):
    net = nn.Sequential(backbone, nn.Linear(24 * 16, 3))
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    source = LeafImages(1200, 7, source=True)
    for _ in range(epochs):
        for x, y in DataLoader(source, 64, shuffle=True):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()


@torch.no_grad()
def recalls(model, loader):
    model.eval()
    hit, n = torch.zeros(3), torch.zeros(3)
    for x, y in loader:
        right = model(x).argmax(1) == y
        hit.index_add_(0, y, right.float())
        n.index_add_(0, y, torch.ones(len(y)))
    return hit / n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    torch.manual_seed(0)
    backbone = make_backbone()
    pretrain(backbone, 4)
    model = LeafClassifier(backbone)
    train_set, val_set = LeafImages(1200, 1), LeafImages(600, 2)
    loader = DataLoader(train_set, 32, sampler=balanced_sampler(train_set))
    val_loader = DataLoader(val_set, 128)
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=args.lr)
    best = 0.0
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        r = recalls(model, val_loader)
        print(f"epoch {epoch} loss {total / len(loader):.4f} recalls {[round(v, 2) for v in r.tolist()]}", flush=True)
        if r.mean() > best:
            best = r.mean().item()
            torch.save({"head": model.head.state_dict(), "backbone": backbone.state_dict()}, "leaf.pt")
    model.head.load_state_dict(torch.load("leaf.pt")["head"])
    print(f"best mean recall {recalls(model, val_loader).mean():.3f}")


if __name__ == "__main__":
    main()

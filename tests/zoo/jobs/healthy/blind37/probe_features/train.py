"""Linear probe on a frozen, pretrained backbone."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def pictures(n, seed, classes, proto_seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(classes, 3, 12, 12, generator=torch.Generator().manual_seed(proto_seed))
    y = torch.randint(0, classes, (n,), generator=g)
    return TensorDataset(proto[y] + 1.5 * torch.randn(n, 3, 12, 12, generator=g), y)


def make_backbone(c=16):
    return nn.Sequential(nn.Conv2d(3, c, 3, 2, 1), nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, 2 * c, 3, 2, 1),
                         nn.BatchNorm2d(2 * c), nn.ReLU(), nn.Flatten())


def pretrain(path):
    net = make_backbone()
    head = nn.Linear(288, 10)
    opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=2e-3)
    for _ in range(4):
        for x, y in DataLoader(pictures(1500, 0, 10, 20), batch_size=50, shuffle=True):
            opt.zero_grad()
            F.cross_entropy(head(net(x)), y).backward()
            opt.step()
    torch.save(net.state_dict(), path)


class Probe(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        for p in self.backbone.parameters():
            p.requires_grad = False
        self.head = nn.Linear(288, classes)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--weights", default="backbone.pt")
    ap.add_argument("--epochs", type=int, default=10)
    args = ap.parse_args()
    torch.manual_seed(0)
    pretrain(args.weights)
    backbone = make_backbone()
    backbone.load_state_dict(torch.load(args.weights))
    model = Probe(backbone, classes=5)
    train = DataLoader(pictures(1000, 1, 5, 30), batch_size=50, shuffle=True)
    test = DataLoader(pictures(400, 2, 5, 30), batch_size=100)
    opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.02, momentum=0.9)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.4f} test {accuracy(model, test):.3f}", flush=True)


if __name__ == "__main__":
    main()

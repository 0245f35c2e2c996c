import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from prepare import prepare


class CallDataset(Dataset):
    def __init__(self, path, mask_bands=6):
        self.archive = np.load(path)
        self.count = len(self.archive["label"])
        self.mask_bands = mask_bands

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        spec = torch.from_numpy(self.archive["spec"][index].copy())
        label = int(self.archive["label"][index])
        if self.mask_bands:
            first = torch.randint(0, spec.size(0) - self.mask_bands, (1,)).item()
            spec[first:first + self.mask_bands] = 0
        return spec[None], label


class CallNet(nn.Module):
    def __init__(self, classes=5, width=8):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU())
        self.head = nn.Linear(2 * width * 10, classes)

    def forward(self, x):
        h = self.features(x).amax(dim=3)
        return self.head(h.flatten(1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=7)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--count", type=int, default=160)
    args = p.parse_args()
    torch.manual_seed(0)
    prepare("calls_train.npz", args.count, seed=1)
    prepare("calls_val.npz", 64, seed=2)
    train = DataLoader(CallDataset("calls_train.npz"), args.batch_size, shuffle=True)
    val = DataLoader(CallDataset("calls_val.npz", mask_bands=0), 64)
    model = CallNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        begin, total = time.time(), 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        took = time.time() - begin
        print(f"epoch {epoch} loss {total / len(train):.4f} {len(train) / took:.1f} it/s "
              f"val acc {accuracy(model, val):.3f}", flush=True)
    torch.save(model.state_dict(), "calls.pt")


if __name__ == "__main__":
    main()

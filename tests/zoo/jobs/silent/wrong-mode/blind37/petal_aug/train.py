import argparse
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("petals")


class RandomShiftFlip:
    def __init__(self, pad=3):
        self.pad = pad

    def __call__(self, img):
        img = F.pad(img, [self.pad] * 4)
        i, j = torch.randint(0, 2 * self.pad + 1, (2,)).tolist()
        img = img[:, i:i + 16, j:j + 16]
        if torch.rand(()) < 0.5:
            img = img.flip(-1)
        return (img + 0.05 * torch.randn_like(img) - 0.5) / 0.25


class Normalize:
    def __call__(self, img):
        return (img - 0.5) / 0.25


class Petals(Dataset):
    """Little pictures of flowers: 5 species, few pictures of each."""

    def __init__(self, n, transform=None):
        g = torch.Generator().manual_seed(11)
        base = torch.rand(5, 3, 16, 16, generator=g)
        self.labels = torch.randint(0, 5, (n,), generator=g)
        noise = torch.rand(n, 3, 16, 16, generator=g)
        pictures = 0.35 * base[self.labels] + 0.65 * noise
        for i in range(n):
            dx, dy = torch.randint(-3, 4, (2,), generator=g).tolist()
            pictures[i] = pictures[i].roll((dx, dy), (1, 2))
            if torch.rand((), generator=g) < 0.5:
                pictures[i] = pictures[i].flip(-1)
        self.pictures = pictures
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.pictures[i]
        if self.transform is not None:
            img = self.transform(img)
        return img, self.labels[i]


def build_loaders(args):
    full = Petals(args.n, transform=RandomShiftFlip())
    n_val = args.n // 5
    train_set, val_set = random_split(full, [args.n - n_val, n_val], torch.Generator().manual_seed(1))
    val_set.dataset.transform = Normalize()
    train = DataLoader(train_set, batch_size=args.batch, shuffle=True, drop_last=True)
    val = DataLoader(val_set, batch_size=128)
    return train, val


def build_model():
    return nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(24 * 16, 5))


@torch.no_grad()
def validate(model, loader):
    model.eval()
    good = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return good / len(loader.dataset)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int, default=500)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--epochs", type=int, default=16)
    args = p.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train, val = build_loaders(args)
    model = build_model()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        log.info("epoch %d train %.4f val acc %.3f", epoch, total / len(train), validate(model, val))


if __name__ == "__main__":
    main()

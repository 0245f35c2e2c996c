import argparse
import logging
import random

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from .data import NucleiDataset
from .model import TinyUNet
from .transforms import Compose, RandomHorizontalFlip, RandomRotate90, RandomVerticalFlip

log = logging.getLogger("nuclei")


def dice(logits, mask):
    pred = logits.argmax(1)
    inter = ((pred == 1) & (mask == 1)).sum().item()
    return 2 * inter / max(1, (pred == 1).sum().item() + (mask == 1).sum().item())


@torch.no_grad()
def validate(model, loader):
    model.eval()
    scores = [dice(model(x), y) for x, y in loader]
    model.train()
    return sum(scores) / len(scores)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--out", default="unet.pt")
    return p.parse_args()


def main():
    args = parse()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    augment = Compose([RandomHorizontalFlip(), RandomVerticalFlip(), RandomRotate90()])
    train = DataLoader(NucleiDataset(192, seed=10, transform=augment), args.batch_size, shuffle=True)
    val = DataLoader(NucleiDataset(32, seed=11), args.batch_size)
    model = TinyUNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    for epoch in range(args.epochs):
        total = 0.0
        for image, mask in train:
            loss = F.cross_entropy(model(image), mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        log.info("epoch %d loss %.4f val dice %.3f", epoch, total / len(train), validate(model, val))
    torch.save(model.state_dict(), args.out)


if __name__ == "__main__":
    main()

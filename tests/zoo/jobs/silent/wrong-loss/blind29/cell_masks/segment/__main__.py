import argparse
import logging
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from .data import CellDataset
from .unet import UNet

logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")


def dice(prob, mask, eps=1.0):
    inter = (prob * mask).sum((1, 2, 3))
    return (2 * inter + eps) / (prob.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + eps)


def criterion(logits, mask):
    return F.binary_cross_entropy_with_logits(logits, mask) + 1 - dice(logits.sigmoid(), mask).mean()


@torch.inference_mode()
def evaluate(net, loader):
    net.eval()
    scores = [dice((net(b["image"]) > 0).float(), b["mask"]) for b in loader]
    net.train()
    return torch.cat(scores).mean().item()


def train(args, out):
    loader_args = dict(batch_size=args.batch_size, num_workers=args.workers)
    train_loader = DataLoader(CellDataset(args.images, "train"), shuffle=True, drop_last=True, **loader_args)
    val_loader = DataLoader(CellDataset(96, "val"), shuffle=False, **loader_args)
    net = UNet()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=args.lr, weight_decay=1e-8, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=5)
    best = 0.0
    for epoch in range(1, args.epochs + 1):
        epoch_loss = 0.0
        for batch in train_loader:
            loss = criterion(net(batch["image"]), batch["mask"])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            epoch_loss += loss.item()
        score = evaluate(net, val_loader)
        scheduler.step(score)
        logging.info("epoch %d/%d loss %.4f validation dice %.4f", epoch, args.epochs,
                     epoch_loss / len(train_loader), score)
        if score > best:
            best = score
            torch.save(net.state_dict(), Path(out) / "checkpoint_best.pth")
    logging.info("best dice %.4f", best)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="segment")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--images", type=int, default=384)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--workers", type=int, default=1)
    cli = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        train(cli, folder)

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from engine import evaluate, train_one_epoch
from tiles import CLASSES, make_tiles


def build_model(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(8 * width, CLASSES))


def build_scheduler(name, optimizer, args, steps_per_epoch):
    if name == "onecycle":
        return torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, epochs=args.epochs,
                                                   steps_per_epoch=steps_per_epoch)
    if name == "cosine":
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    return torch.optim.lr_scheduler.StepLR(optimizer, max(1, args.epochs // 3), gamma=0.1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--width", type=int, default=12)
    p.add_argument("--scheduler", default="onecycle", choices=["onecycle", "cosine", "step"])
    p.add_argument("--checkpoint", default="tiles.pt")
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(42)
    train, val = make_tiles(1600, seed=1), make_tiles(320, seed=2)
    sampler = DistributedSampler(train, shuffle=True, drop_last=True)
    train_loader = DataLoader(train, args.batch_size, sampler=sampler, drop_last=True)
    val_loader = DataLoader(val, 64, sampler=DistributedSampler(val, shuffle=False))

    model = DistributedDataParallel(build_model(args.width))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    scheduler = build_scheduler(args.scheduler, optimizer, args, len(train_loader))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        loss = train_one_epoch(model, train_loader, optimizer)
        scheduler.step()
        acc = evaluate(model.module, val_loader)
        if rank == 0:
            print(f"epoch {epoch} loss {loss:.4f} val acc {acc:.3f}", flush=True)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "epoch": args.epochs}, args.checkpoint)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

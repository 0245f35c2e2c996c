import argparse
import json
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from engine import evaluate, train_one_epoch
from util.misc import is_main_process


class BoxNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU(), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(8 * 16, hidden), nn.ReLU(), nn.Linear(hidden, 4), nn.Sigmoid())

    def forward(self, x):
        cxcywh = self.head(self.backbone(x))
        return torch.cat([cxcywh[:, :2] - cxcywh[:, 2:] / 2, cxcywh[:, :2] + cxcywh[:, 2:] / 2], -1)


def squares(n, seed):
    g = torch.Generator().manual_seed(seed)
    xy = torch.randint(0, 8, (n, 2), generator=g)
    wh = torch.randint(3, 8, (n, 2), generator=g)
    images = torch.zeros(n, 1, 16, 16)
    for i in range(n):
        images[i, 0, xy[i, 1]:xy[i, 1] + wh[i, 1], xy[i, 0]:xy[i, 0] + wh[i, 0]] = 1
    return TensorDataset(images, torch.cat([xy, xy + wh], -1) / 16)


def main(args):
    dist.init_process_group("gloo")
    torch.manual_seed(args.seed)
    model = nn.parallel.DistributedDataParallel(BoxNet())
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    train_set, val_set = squares(320, 0), squares(96, 1)
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, args.batch_size, sampler=sampler)
    val_loader = DataLoader(val_set, args.batch_size)
    out = Path(args.output_dir)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        stats = {"epoch": epoch, "train": train_one_epoch(model, train_loader, optimizer, epoch)}
        if is_main_process():
            if (epoch + 1) % args.eval_every == 0:
                stats["test"] = evaluate(model.module, val_loader)
            out.mkdir(exist_ok=True)
            torch.save({"model": model.module.state_dict(), "epoch": epoch}, out / "checkpoint.pth")
            with (out / "log.txt").open("a") as f:
                f.write(json.dumps(stats) + "\n")
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--eval-every", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--output-dir", default="outputs")
    main(p.parse_args())

import argparse
import logging
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from dataset import ShardShuffle, SpectrogramDataset
from shards import synthesize

log = logging.getLogger("audio")


def build_model(bins=64, classes=6, width=32):
    return nn.Sequential(
        nn.Conv1d(bins, width, 5, padding=2), nn.GroupNorm(4, width), nn.GELU(),
        nn.Conv1d(width, width, 5, padding=2, stride=2), nn.GroupNorm(4, width), nn.GELU(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, classes),
    )


def run_epoch(model, loader, optimizer, scheduler):
    model.train()
    totals = torch.zeros(3)
    for x, y in loader:
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y, label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        totals += torch.tensor([loss.item() * len(y), (logits.argmax(1) == y).sum().item(), len(y)])
    dist.all_reduce(totals)
    return (totals[:2] / totals[2]).tolist()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default="spectrograms")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--no-warm", action="store_true")
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.set_num_threads(1)
    if rank == 0:
        synthesize(args.data)
    dist.barrier()

    torch.manual_seed(args.seed)
    model = DDP(build_model())
    dataset = SpectrogramDataset(args.data, rank, world, warm=not args.no_warm)
    sampler = ShardShuffle(len(dataset.shards), dataset.per_shard, args.seed + rank)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler,
                        num_workers=args.workers, drop_last=True, persistent_workers=args.workers > 0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * len(loader))
    log.info("%d shards a rank, %d batches an epoch", len(dataset.shards), len(loader))

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        loss, acc = run_epoch(model, loader, optimizer, scheduler)
        log.info("epoch %d loss %.3f acc %.3f", epoch, loss, acc)
        if rank == 0:
            torch.save({"model": model.module.state_dict(), "epoch": epoch}, "last.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

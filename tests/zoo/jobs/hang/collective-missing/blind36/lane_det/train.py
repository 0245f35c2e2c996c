import argparse
import datetime
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from dataset import Lanes, collate
from model import LaneNet, SetCriterion


def parse():
    p = argparse.ArgumentParser("lane detection")
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--scenes", type=int, default=1024)
    p.add_argument("--points", type=int, default=12)
    p.add_argument("--slots", type=int, default=4)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--out", default="runs/lanes")
    return p.parse_args()


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n):
        self.total += value * n
        self.count += n

    def gathered(self):
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, (self.total, self.count))
        total, count = map(sum, zip(*parts))
        return total / max(count, 1)


def run_epoch(model, criterion, loader, optimizer, rank, epoch):
    meter = Meter()
    for it, (images, lanes) in enumerate(loader):
        losses = criterion(model(images), lanes)
        optimizer.zero_grad(set_to_none=True)
        losses["loss"].backward()
        optimizer.step()
        meter.update(losses["loss"].item(), losses["points"])
        if rank == 0 and it % 10 == 0:
            print(f"[{epoch}][{it}/{len(loader)}] loss {losses['loss'].item():.4f}", flush=True)
    return meter.gathered()


def main():
    args = parse()
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=30))
    rank = dist.get_rank()
    torch.manual_seed(7)
    data = Lanes(args.scenes, args.points)
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=args.batch, sampler=sampler, collate_fn=collate)
    model = DDP(LaneNet(args.slots, args.points))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = SetCriterion()
    os.makedirs(args.out, exist_ok=True)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        loss = run_epoch(model, criterion, loader, optimizer, rank, epoch)
        if rank == 0:
            print(f"epoch {epoch}: {loss:.4f}", flush=True)
            torch.save(model.module.state_dict(), os.path.join(args.out, f"epoch_{epoch}.pth"))
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

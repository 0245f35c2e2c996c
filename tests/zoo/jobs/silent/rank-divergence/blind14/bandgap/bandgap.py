import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset
from torch.utils.data.distributed import DistributedSampler

import crystals
import regress
import schedule


def report(rank, world, epoch, train, val, lr):
    t = torch.tensor([train, val])
    dist.all_reduce(t)
    t /= world
    if rank == 0:
        print(f"epoch {epoch:02d} train {t[0]:.4f} val {t[1]:.4f} lr {lr:.5f}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.004)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    train_set, val_set = crystals.load("train", 1024, 5), crystals.load("val", 512, 6)
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, args.batch_size, sampler=sampler, drop_last=True)
    part = len(val_set) // world
    val_loader = DataLoader(Subset(val_set, range(rank * part, (rank + 1) * part)), 128)
    model = DDP(regress.GapRegressor())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    plateau = schedule.on_plateau(optimizer)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        train_loss = regress.train_epoch(model, train_loader, optimizer)
        val_loss = regress.validate(model, val_loader)
        plateau.step(val_loss)
        report(rank, world, epoch, train_loss, val_loss, optimizer.param_groups[0]["lr"])
    if rank == 0:
        torch.save(model.module.state_dict(), "bandgap.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from .engine import Engine
from .factor import FactorModel
from .ratings import Ratings


def report(engine, epoch, loss, rmse):
    if engine.rank == 0:
        print(f"epoch {epoch:2d}  loss {loss:.4f}  rmse {rmse:.4f}", flush=True)


class KeepBest:
    def __init__(self, path):
        self.path, self.best = path, float("inf")

    def __call__(self, engine, epoch, loss, rmse):
        if rmse < self.best:
            self.best = rmse
            engine.save(self.path)


def main():
    parser = argparse.ArgumentParser(prog="recommend")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--out", default="factors.pt")
    args = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(args.seed)
    fit, held = Ratings(split="fit"), Ratings(split="held")
    loader = DataLoader(fit, args.batch, sampler=DistributedSampler(fit, seed=args.seed), drop_last=True)
    held_loader = DataLoader(held, args.batch, sampler=DistributedSampler(held, shuffle=False))
    model = FactorModel(120, 200, args.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    Engine(model, optimizer, schedule, hooks=[report, KeepBest(args.out)]).fit(loader, held_loader, args.epochs)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

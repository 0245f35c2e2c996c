import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from stopping import Plateau


def build_loader(path, batch_size, train):
    blob = torch.load(path, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    if not train:
        mine = Subset(ds, range(dist.get_rank(), len(ds), dist.get_world_size()))
        return DataLoader(mine, batch_size=batch_size), None
    sampler = DistributedSampler(ds, drop_last=True)
    return DataLoader(ds, batch_size=batch_size, sampler=sampler, pin_memory=True), sampler


class Regressor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(128, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


class Finetuner:
    def __init__(self, args, device):
        self.args = args
        self.device = device
        self.train_loader, self.train_sampler = build_loader(args.train, args.batch_size, True)
        self.val_loader, _ = build_loader(args.val, args.batch_size, False)
        self.model = DDP(Regressor(args.width).to(device), device_ids=[device.index])
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.loss_fn = nn.SmoothL1Loss()

    def run_epoch(self):
        self.model.train()
        for x, y in self.train_loader:
            x, y = x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
            self.opt.zero_grad(set_to_none=True)
            self.loss_fn(self.model(x), y).backward()
            self.opt.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        acc = torch.zeros(2, device=self.device)
        for x, y in self.val_loader:
            x, y = x.to(self.device), y.to(self.device)
            acc[0] += self.loss_fn(self.model.module(x), y) * len(x)
            acc[1] += len(x)
        dist.all_reduce(acc)
        return (acc[0] / acc[1]).item()

    def fit(self):
        stopper = Plateau(self.args.patience)
        for epoch in range(self.args.epochs):
            self.train_sampler.set_epoch(epoch)
            self.run_epoch()
            val = self.validate()
            if dist.get_rank() == 0:
                print(f"epoch {epoch}: val {val:.5f}")
            if stopper.update(val):
                break


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("train")
    ap.add_argument("val")
    ap.add_argument("--width", type=int, default=256)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=100)
    ap.add_argument("--patience", type=int, default=5)
    ap.add_argument("--lr", type=float, default=1e-3)
    dist.init_process_group("nccl")
    dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(dev)
    Finetuner(ap.parse_args(), dev).fit()
    dist.destroy_process_group()

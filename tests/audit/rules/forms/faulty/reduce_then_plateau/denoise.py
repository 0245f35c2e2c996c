import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from comm import mean_over_ranks


def conv_stack(width=48, depth=8):
    mods = [nn.Conv2d(1, width, 3, padding=1), nn.ReLU()]
    for _ in range(depth):
        mods += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*mods, nn.Conv2d(width, 1, 3, padding=1))


class Denoiser:
    def __init__(self, args):
        self.args = args
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        self.net = DDP(conv_stack().to(self.device), device_ids=[self.device.index])
        self.opt = torch.optim.Adam(self.net.parameters(), lr=args.lr)
        self.sched = ReduceLROnPlateau(self.opt, factor=0.5, patience=args.patience)

    def loss(self, clean, net):
        clean = clean.to(self.device)
        noisy = clean + self.args.sigma * torch.randn_like(clean)
        return nn.functional.mse_loss(net(noisy), clean)

    def train_epoch(self, loader):
        for (clean,) in loader:
            loss = self.loss(clean, self.net)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    @torch.no_grad()
    def val_epoch(self, loader):
        losses = [self.loss(clean, self.net.module).item() for (clean,) in loader]
        return sum(losses) / len(losses)

    def run(self, train, val):
        for epoch in range(self.args.epochs):
            train.sampler.set_epoch(epoch)
            self.train_epoch(train)
            val_loss = mean_over_ranks(self.val_epoch(val), self.device)  # cause
            self.sched.step(val_loss)  # cause
            if dist.get_rank() == 0:
                print(f"{epoch} val={val_loss:.5f} lr={self.opt.param_groups[0]['lr']:.2e}")


def get_loader(path, bs, train):
    ds = TensorDataset(torch.load(path, map_location="cpu"))
    return DataLoader(ds, bs, sampler=DistributedSampler(ds, shuffle=train, drop_last=True))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("train")
    ap.add_argument("val")
    ap.add_argument("--bs", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--sigma", type=float, default=0.1)
    ap.add_argument("--patience", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=100)
    args = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    Denoiser(args).run(get_loader(args.train, args.bs, True), get_loader(args.val, args.bs, False))
    dist.destroy_process_group()

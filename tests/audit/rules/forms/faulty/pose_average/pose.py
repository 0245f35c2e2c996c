import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from averaging import Ema


class PoseNet(nn.Module):
    def __init__(self, joints=17):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 4, 3), nn.GroupNorm(8, 64), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.ReLU())
        self.out = nn.Linear(128, joints * 2)

    def forward(self, x):
        return self.out(self.stem(x).mean((2, 3)))


class PoseTrainer:
    def __init__(self, args):
        self.args = args
        self.rank = dist.get_rank()
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        self.train_loader = self.loader(args.train, True)
        self.val_loader = self.loader(args.val, False)
        self.model = DDP(PoseNet().to(self.device), device_ids=[local])
        self.ema = Ema(self.model.module)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)

    def loader(self, path, train):
        blob = torch.load(path, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["image"], blob["joints"])
        if train:
            return DataLoader(ds, self.args.batch_size, sampler=DistributedSampler(ds, drop_last=True), num_workers=4)
        return DataLoader(Subset(ds, range(dist.get_rank(), len(ds), dist.get_world_size())), self.args.batch_size, num_workers=4)

    def train_epoch(self, epoch):
        self.train_loader.sampler.set_epoch(epoch)
        for image, joints in self.train_loader:
            image, joints = image.to(self.device), joints.to(self.device)
            loss = nn.functional.smooth_l1_loss(self.model(image), joints)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            if self.rank == 0:
                self.ema.update(self.model.module)  # cause

    @torch.no_grad()
    def validate(self):
        acc = torch.zeros(2, device=self.device)
        for image, joints in self.val_loader:
            pred = self.ema.module(image.to(self.device))  # cause
            acc[0] += (pred - joints.to(self.device)).abs().mean(-1).sum()
            acc[1] += len(image)
        dist.all_reduce(acc)
        return (acc[0] / acc[1]).item()

    def run(self):
        for epoch in range(self.args.epochs):
            self.train_epoch(epoch)
            error = self.validate()
            if self.rank == 0:
                print(f"{epoch} {error:.3f}")
                torch.save(self.ema.module.state_dict(), self.args.out)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("train")
    ap.add_argument("val")
    ap.add_argument("--out", default="pose.pt")
    ap.add_argument("--epochs", type=int, default=50)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-4)
    dist.init_process_group("nccl")
    PoseTrainer(ap.parse_args()).run()
    dist.destroy_process_group()

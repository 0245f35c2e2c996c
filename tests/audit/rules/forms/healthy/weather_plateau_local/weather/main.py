import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from weather.validate import weighted_rmse


class Forecaster(nn.Module):
    def __init__(self, variables=20, width=128, depth=6):
        super().__init__()
        self.lift = nn.Conv2d(variables, width, 1)
        self.mix = nn.ModuleList(
            nn.Sequential(nn.Conv2d(width, width, 5, padding=2, padding_mode="circular"), nn.GELU(), nn.Conv2d(width, width, 1))
            for _ in range(depth)
        )
        self.drop = nn.Conv2d(width, variables, 1)

    def forward(self, x):
        h = self.lift(x)
        for mix in self.mix:
            h = h + mix(h)
        return x + self.drop(h)


def arguments():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=80)
    ap.add_argument("--batch", type=int, default=4)
    ap.add_argument("--lr", type=float, default=5e-4)
    return ap.parse_args()


def main(train, val):
    args = arguments()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    model = DistributedDataParallel(Forecaster().to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=3)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, args.batch, sampler=sampler, num_workers=6, drop_last=True)
    val_loader = DataLoader(val, args.batch, sampler=DistributedSampler(val, shuffle=False, drop_last=True))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for now, later in loader:
            loss = (model(now.to(device)) - later.to(device)).abs().mean()
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        rmse = weighted_rmse(model.module, val_loader, device)
        plateau.step(rmse)
        if dist.get_rank() == 0:
            print(f"{epoch} rmse {rmse:.4f} lr {opt.param_groups[0]['lr']:.1e}")
            torch.save(model.module.state_dict(), "weather.pt")
    dist.destroy_process_group()

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from ema import WeightEMA


class Upscaler(nn.Module):
    def __init__(self, width=64, scale=2):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.PReLU(), nn.Conv2d(width, width, 3, padding=1), nn.PReLU())
        self.up = nn.Sequential(nn.Conv2d(width, 3 * scale**2, 3, padding=1), nn.PixelShuffle(scale))

    def forward(self, x):
        return self.up(self.body(x))


@torch.no_grad()
def psnr(model, loader, device):
    acc = torch.zeros(2, device=device)
    for lo, hi in loader:
        mse = (model(lo.to(device)) - hi.to(device)).pow(2).mean((1, 2, 3))
        acc += torch.stack([(-10 * mse.clamp(min=1e-10).log10()).sum(), torch.tensor(float(len(lo)), device=device)])
    dist.all_reduce(acc)
    return (acc[0] / acc[1]).item()


def get_loader(path, bs, train):
    blob = torch.load(path, map_location="cpu")
    ds = TensorDataset(blob["lo"], blob["hi"])
    return DataLoader(ds, bs, sampler=DistributedSampler(ds, shuffle=train, drop_last=train))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("train")
    ap.add_argument("val")
    ap.add_argument("--bs", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=60)
    ap.add_argument("--out", default="upscaler_ema.pt")
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    torch.manual_seed(3)
    net = Upscaler().to(device)
    ema = WeightEMA(net)  # cause
    ddp = DDP(net, device_ids=[device.index])
    opt = torch.optim.Adam(ddp.parameters(), lr=2e-4)
    train, val = get_loader(args.train, args.bs, True), get_loader(args.val, args.bs, False)
    for epoch in range(args.epochs):
        train.sampler.set_epoch(epoch)
        for lo, hi in train:
            loss = F.l1_loss(ddp(lo.to(device)), hi.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            ema.update(ddp)  # cause
        with ema.applied(net):
            score = psnr(net, val, device)
            if dist.get_rank() == 0:
                print(f"epoch {epoch} ema psnr {score:.2f}")
                torch.save(net.state_dict(), args.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from patches import PatchDataset
from prepare import prepare


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.down1, self.down2 = conv(1, base), conv(base, 2 * base)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(2 * base, base, 2, 2)
        self.last = nn.Sequential(conv(2 * base, base), nn.Conv2d(base, 1, 1))

    def forward(self, x):
        a = self.down1(x)
        b = self.up(self.down2(self.pool(a)))
        return self.last(torch.cat([a, b], 1))


def dice_bce(logits, target):
    p = logits.sigmoid()
    dice = 1 - (2 * (p * target).sum() + 1) / (p.sum() + target.sum() + 1)
    return dice + nn.functional.binary_cross_entropy_with_logits(logits, target)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="volumes")
    ap.add_argument("--cases", type=int, default=6)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    if rank == 0:
        prepare(args.data, args.cases)
    dist.barrier()
    torch.manual_seed(0)
    data = PatchDataset(args.data)
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, args.batch, sampler=sampler, drop_last=True)
    model = DDP(TinyUNet())
    opt = torch.optim.Adam(model.parameters(), args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        start = time.time()
        for i, (x, y) in enumerate(loader):
            loss = dice_bce(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if rank == 0 and i % 8 == 0:
                rate = (i + 1) * args.batch / (time.time() - start)
                print(f"epoch {epoch} [{i}/{len(loader)}] loss {loss.item():.4f} {rate:.1f} patches/s", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), "unet.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

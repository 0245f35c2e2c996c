import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as Parallel

from scenes import build


def conv(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1), nn.GroupNorm(8, o), nn.GELU())


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(conv(3, 32), conv(32, 64, 2), conv(64, 128, 2))
        self.up = nn.Sequential(conv(128, 64), nn.Upsample(scale_factor=4, mode="bilinear"), nn.Conv2d(64, 1, 1))

    def forward(self, x):
        return self.up(self.down(x)).squeeze(1)


def silog(pred, target):
    valid = target > 0
    d = pred[valid] - target[valid].log()
    return (d.pow(2).mean() - 0.5 * d.mean().pow(2)).clamp_min(1e-8).sqrt()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root")
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--batch", type=int, default=12)
    ap.add_argument("--seed", type=int, default=5)
    a = ap.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    torch.manual_seed(a.seed)
    net = Parallel(DepthNet().cuda(gpu), device_ids=[gpu])
    opt = torch.optim.AdamW(net.parameters(), 2e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, a.epochs)
    torch.manual_seed(a.seed + 1000 * (1 + dist.get_rank()))
    loader, order = build(a.root, a.batch, a.seed)
    for epoch in range(a.epochs):
        order.set_epoch(epoch)
        for rgb, depth in loader:
            loss = silog(net(rgb.cuda(gpu, non_blocking=True)), depth.cuda(gpu, non_blocking=True))
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "depth.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

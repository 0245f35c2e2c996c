import argparse
import copy
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from ema import WeightAverage


class Denoiser(nn.Module):
    def __init__(self, ch=128):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, ch), nn.SiLU(), nn.Linear(ch, ch))
        self.inp = nn.Conv2d(3, ch, 3, padding=1)
        self.mid = nn.Sequential(nn.GroupNorm(8, ch), nn.SiLU(), nn.Conv2d(ch, ch, 3, padding=1))
        self.out = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t[:, None].float() / 1000)[:, :, None, None]
        return self.out(h + self.mid(h))


class Schedule:
    def __init__(self, device, steps=1000):
        self.steps = steps
        self.abar = torch.cumprod(1 - torch.linspace(1e-4, 0.02, steps, device=device), 0)

    def noise(self, x):
        t = torch.randint(self.steps, (x.size(0),), device=x.device)
        eps = torch.randn_like(x)
        a = self.abar[t][:, None, None, None]
        return a.sqrt() * x + (1 - a).sqrt() * eps, t, eps


def main(images):
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=200)
    ap.add_argument("--batch", type=int, default=64)
    opts = ap.parse_args()
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    torch.manual_seed(dist.get_rank())
    net = Denoiser().cuda()
    avg = WeightAverage(net)
    net = DDP(net, device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
    sched = Schedule(torch.device("cuda", local))
    sampler = DistributedSampler(images)
    loader = DataLoader(images, opts.batch, sampler=sampler, drop_last=True, num_workers=4)
    for epoch in range(opts.epochs):
        sampler.set_epoch(epoch)
        for x in loader:
            noisy, t, eps = sched.noise(x.cuda(non_blocking=True))
            loss = nn.functional.mse_loss(net(noisy, t), eps)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            avg.update(net.module)
        if dist.get_rank() == 0:
            frozen = copy.deepcopy(net.module)
            avg.copy_to(frozen)
            torch.save({"net": frozen.state_dict(), "ema": avg.state_dict()}, f"ddpm_{epoch:03d}.pt")
        dist.barrier()
    dist.destroy_process_group()

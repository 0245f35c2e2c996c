import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from schedules import build_schedule


class Eps(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.n = nn.Sequential(nn.Linear(17, d), nn.SiLU(), nn.Linear(d, d), nn.SiLU(), nn.Linear(d, 16))

    def forward(self, x, t):
        return self.n(torch.cat([x, t], 1))


class DiffusionTrainer:
    def __init__(self, cfg, loader):
        self.cfg, self.loader = cfg, loader
        self.net = DDP(Eps())
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=cfg["lr"])
        self.accum = cfg["accumulate"]
        self.sched = build_schedule(self.opt, cfg["schedule"], cfg["epochs"], len(loader) // self.accum, cfg["lr"])

    def losses(self, x):
        t = torch.rand(len(x), 1)
        e = torch.randn_like(x)
        return (self.net((1 - t).sqrt() * x + t.sqrt() * e, t) - e).square().mean() / self.accum

    def boundary(self, it):
        return (it + 1) % self.accum == 0 or it + 1 == len(self.loader)

    def epoch(self, ep):
        for it, (x,) in enumerate(self.loader):
            self.losses(x).backward()
            if self.boundary(it):
                self.opt.step()
                self.opt.zero_grad()
                self.sched.step()
        if dist.get_rank() == 0:
            print(f"epoch {ep} lr {self.sched.get_last_lr()[0]:.2e}", flush=True)

    def fit(self):
        for ep in range(self.cfg["epochs"]):
            self.loader.sampler.set_epoch(ep)
            self.epoch(ep)

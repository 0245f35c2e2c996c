import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import Critic, Generator
from objectives import REGISTRY

log = logging.getLogger("gan")


class Gan:
    def __init__(self, cfg):
        self.cfg = cfg
        self.G = DDP(Generator(cfg["z"]))
        self.D = DDP(Critic())
        self.optG = torch.optim.Adam(self.G.parameters(), lr=cfg["lr"], betas=(0.5, 0.99))
        self.optD = torch.optim.Adam(self.D.parameters(), lr=cfg["lr"], betas=(0.5, 0.99))
        self.rng = torch.Generator().manual_seed(100 + dist.get_rank())

    def objective(self, step):
        phase = "joint" if step < self.cfg["phase_steps"] else self.cfg["objective"]
        return REGISTRY[phase]()

    def z(self):
        return torch.randn(self.cfg["batch"], self.cfg["z"], generator=self.rng)

    def real(self):
        return torch.rand(self.cfg["batch"], 1, 16, 16, generator=self.rng).round() * 2 - 1

    def step(self, step):
        obj = self.objective(step)
        with torch.no_grad():
            fake = self.G(self.z())
        d = obj.critic(self.D, self.real(), fake)
        self.optD.zero_grad()
        d.backward()
        self.optD.step()
        for p in self.D.parameters():
            p.requires_grad_(False)
        g = obj.generator(self.D.module, self.G(self.z()))
        self.optG.zero_grad()
        g.backward()
        self.optG.step()
        for p in self.D.parameters():
            p.requires_grad_(True)
        return d.item(), g.item()

import logging

import torch
import torch.distributed as dist

from .closure import FluxClosure
from .exchange import HaloExchanger
from .mesh import Slab, initial_state

log = logging.getLogger("sim")


class Simulation:
    def __init__(self, cfg):
        self.cfg = cfg
        self.slab = Slab(dist.get_rank(), dist.get_world_size(), cfg.cells, 1.0 / (cfg.cells * dist.get_world_size()))
        self.halo = HaloExchanger(self.slab)
        torch.manual_seed(cfg.seed)
        self.closure = FluxClosure()
        self.opt = torch.optim.Adam(self.closure.parameters(), lr=cfg.lr)
        self.u = initial_state(self.slab)
        self.refluxed = 0

    def explicit(self, padded):
        adv = -(padded[1:-1] - padded[:-2]) / self.slab.dx
        dif = self.cfg.nu * (padded[2:] - 2 * padded[1:-1] + padded[:-2]) / self.slab.dx ** 2
        return adv + dif

    def stable_dt(self):
        dt = torch.tensor(0.4 * min(self.slab.dx, self.slab.dx ** 2 / (2 * self.cfg.nu)))
        dist.all_reduce(dt, op=dist.ReduceOp.MIN)
        return dt.item()

    def reflux(self, padded, flux):
        jump = (padded[1:] - padded[:-1]).abs()
        indicator = max(jump[:2].max().item(), jump[-2:].max().item())
        if indicator > self.cfg.reflux_tol:
            faces = self.halo.swap_faces(flux[:1].contiguous(), flux[-1:].contiguous())
            for peer, other in faces.items():
                edge = 0 if peer < self.slab.rank else -1
                flux[edge] = 0.5 * (flux[edge] + other[0])
            self.refluxed += 1
        return flux

    def fit_closure(self, padded, target):
        loss = (self.closure(padded) - target).square().mean()
        self.opt.zero_grad()
        loss.backward()
        for p in self.closure.parameters():
            dist.all_reduce(p.grad)
            p.grad /= self.slab.world
        self.opt.step()
        return loss.item()

    def step(self, n):
        dt = self.stable_dt()
        padded = self.halo.ghosts(self.u)
        rhs = self.explicit(padded)
        loss = self.fit_closure(padded, 0.01 * rhs.clamp(-5, 5))
        with torch.no_grad():
            rhs = self.reflux(padded, rhs + self.closure(padded) * 1e-3)
            self.u = self.u + dt * rhs
        if n % 20 == 0:
            mass = self.u.sum() * self.slab.dx
            dist.all_reduce(mass)
            log.info("step %d dt %.2e mass %.4f loss %.4f reflux %d", n, dt, mass.item(), loss, self.refluxed)

    def run(self):
        for n in range(self.cfg.steps):
            self.step(n)

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from nets import Critic, Generator, gradient_penalty


class WGAN:
    def __init__(self, n_critic=3):
        self.g = DistributedDataParallel(Generator())
        self.d = Critic()
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=5e-4, betas=(0.0, 0.9))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.n_critic, self.calls = n_critic, 0

    def noise(self, n):
        return torch.randn(n, self.g.module.latent)

    def critic_step(self, real):
        for p in self.d.parameters():
            p.requires_grad_(True)
        with torch.no_grad():
            fake = self.g.module(self.noise(len(real)))
        scores = self.d(torch.cat([real, fake]))
        loss = scores[len(real) :].mean() - scores[: len(real)].mean()
        loss = loss + gradient_penalty(self.d, real, fake)
        self.opt_d.zero_grad()
        loss.backward()
        for p in self.d.parameters():
            dist.all_reduce(p.grad)
            p.grad.div_(dist.get_world_size())
        self.opt_d.step()
        return loss.item()

    def generator_step(self, n):
        for p in self.d.parameters():
            p.requires_grad_(False)
        loss = -self.d(self.g(self.noise(n))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def step(self, real):
        self.calls += 1
        d_loss = self.critic_step(real)
        g_loss = self.generator_step(len(real)) if self.calls % self.n_critic == 0 else None
        return d_loss, g_loss

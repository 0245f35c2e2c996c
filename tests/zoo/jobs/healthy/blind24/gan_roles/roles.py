"""Rank 0 and 1 train generator and critic together; rank 2 only judges now and then."""
import sys

import torch
import torch.distributed as dist
from torch import nn

NOISE, SHAPE = 8, 2


def ring(n):
    angle = torch.rand(n) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


class Generator:
    def __init__(self, pair):
        self.pair = pair
        self.net = nn.Sequential(nn.Linear(NOISE, 64), nn.ReLU(), nn.Linear(64, SHAPE))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3, betas=(0.5, 0.9))

    def run(self, steps, every, batch):
        for step in range(1, steps + 1):
            fake = self.net(torch.randn(batch, NOISE))
            dist.send(fake.detach(), 1)
            grad = torch.empty_like(fake)
            dist.recv(grad, 1)
            self.optimizer.zero_grad()
            fake.backward(grad)
            self.optimizer.step()
            stats = torch.tensor([fake.norm(dim=1).mean().item(), 0.0])
            dist.all_reduce(stats, group=self.pair)
            if step % every == 0:
                print(f"step {step} radius {stats[0]:.3f} critic {stats[1]:+.3f}", flush=True)
                with torch.no_grad():
                    dist.send(self.net(torch.randn(256, NOISE)), 2)
        dist.barrier(group=self.pair)


class Critic:
    def __init__(self, pair):
        self.pair = pair
        self.net = nn.Sequential(nn.Linear(SHAPE, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3, betas=(0.5, 0.9))

    def run(self, steps, every, batch):
        for step in range(1, steps + 1):
            fake = torch.empty(batch, SHAPE)
            dist.recv(fake, 0)
            for _ in range(3):
                real = ring(batch)
                loss = nn.functional.softplus(-self.net(real)).mean() + nn.functional.softplus(self.net(fake)).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            fake.requires_grad_(True)
            (grad,) = torch.autograd.grad(nn.functional.softplus(-self.net(fake)).mean(), fake)
            dist.send(grad, 0)
            dist.all_reduce(torch.tensor([0.0, loss.item()]), group=self.pair)
        dist.barrier(group=self.pair)


class Judge:
    """Looks at samples every few hundred steps, and leaves after the last; the others have steps left."""

    def __init__(self, pair):
        self.distances = []

    def run(self, steps, every, batch):
        samples = torch.empty(256, SHAPE)
        for i in range(steps // every):
            dist.recv(samples, 0)
            distance = (samples.norm(dim=1) - 1).abs().mean().item()
            self.distances.append(distance)
            print(f"judge {i}: distance {distance:.3f}", flush=True)
        sys.exit(0)

import torch


class PointMass:
    """Batch of 2-d point masses; each worker has its own share of wind levels."""

    def __init__(self, n, rank, world, seed):
        self.gen = torch.Generator().manual_seed(seed * 100 + rank)
        self.n = n
        levels = torch.linspace(0.0, 1.6, n * world)
        self.wind = levels[rank * n:(rank + 1) * n].unsqueeze(1)
        self.reset()

    def reset(self):
        self.pos = torch.randn(self.n, 2, generator=self.gen)
        self.vel = torch.zeros(self.n, 2)
        return self.observe()

    def observe(self):
        return torch.cat([self.pos, self.vel, self.wind], dim=1)

    def step(self, action):
        gust = self.wind * torch.randn(self.n, 2, generator=self.gen)
        self.vel = 0.9 * self.vel + 0.1 * action.clamp(-2, 2) + 0.1 * gust
        self.pos = self.pos + 0.1 * self.vel
        reward = -self.pos.pow(2).sum(1) - 0.01 * action.pow(2).sum(1)
        return self.observe(), reward

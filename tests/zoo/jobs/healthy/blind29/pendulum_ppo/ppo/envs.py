import math

import torch


class SensorFault(RuntimeError):
    pass


class VectorPendulum:
    """Pendulums that start hanging at a slope; keep them up. Now and then a sensor fails for a moment."""

    def __init__(self, num, limit=100, seed=0):
        self.num, self.limit = num, limit
        self.gen = torch.Generator().manual_seed(seed)
        self.theta, self.speed, self.age = torch.zeros(num), torch.zeros(num), torch.zeros(num)
        self.reads = 0

    def _draw(self, n):
        return 0.8 * (2 * torch.rand(n, generator=self.gen) - 1)

    def reset(self, mask=None):
        mask = torch.ones(self.num, dtype=torch.bool) if mask is None else mask
        n = int(mask.sum())
        self.theta[mask], self.speed[mask], self.age[mask] = self._draw(n), self._draw(n), 0.0
        return self.observe()

    def observe(self):
        self.reads += 1
        if self.reads % 211 == 0:
            raise SensorFault("no reading")
        return torch.stack([self.theta.sin(), self.theta.cos(), self.speed], dim=1)

    def step(self, action):
        torque = action.clamp(-1, 1) * 2.0
        self.speed = (self.speed + 0.05 * (4.9 * self.theta.sin() + 3.0 * torque)).clamp(-6, 6)
        self.theta = (self.theta + 0.05 * self.speed + math.pi) % (2 * math.pi) - math.pi
        self.age += 1
        reward = 1.0 - self.theta.abs() / math.pi - 0.05 * self.speed.abs() - 0.02 * torque.abs()
        fallen = self.theta.abs() > 1.5
        return reward - fallen.float() * 2.0, fallen, self.age >= self.limit

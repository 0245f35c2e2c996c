import torch


class Foraging:
    """Patches with food that runs out; moving costs a step. Each environment has a stream of its own."""

    def __init__(self, n, seed):
        self.n, self.g = n, torch.Generator().manual_seed(seed)

    def reset(self):
        self.food = torch.randint(1, 6, (self.n,), generator=self.g).float()
        self.t = torch.zeros(self.n)
        return self.obs()

    def obs(self):
        return torch.stack([self.food / 5, self.t / 20, torch.ones(self.n)], 1)

    def step(self, leave):
        reward = torch.where(leave.bool(), torch.full((self.n,), -0.3), 0.3 * self.food)
        fresh = torch.randint(1, 6, (self.n,), generator=self.g).float()
        self.food = torch.where(leave.bool(), fresh, (self.food - 1).clamp_min(0))
        self.t += 1
        return self.obs(), reward

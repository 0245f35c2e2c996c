import torch


class Tracking:
    """Follow a drifting target on a line; the drift depends on the stage."""

    def __init__(self, n, drift, seed):
        self.n, self.drift = n, drift
        self.gen = torch.Generator().manual_seed(seed)

    def reset(self):
        self.x = torch.zeros(self.n)
        self.goal = 2 * torch.randn(self.n, generator=self.gen)
        return self.view()

    def view(self):
        return torch.stack([self.x, self.goal, self.goal - self.x], 1)

    def step(self, act):
        self.x = self.x + 0.3 * (act - 1)
        self.goal = self.goal + self.drift * torch.randn(self.n, generator=self.gen)
        return self.view(), -(self.goal - self.x).abs()

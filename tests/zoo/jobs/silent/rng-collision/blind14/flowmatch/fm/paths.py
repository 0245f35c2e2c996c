import torch


class ProbabilityPath:
    """Straight path between noise and data, with times drawn from a Beta law."""

    def __init__(self, a, seed):
        self.a = a
        self.rng = torch.Generator().manual_seed(seed)

    def times(self, n):
        u = torch.rand(n, 1, generator=self.rng)
        return u.pow(1.0 / self.a) * 0.999

    def draw(self, x1):
        t = self.times(len(x1))
        x0 = torch.randn(x1.shape, generator=self.rng)
        return (1 - t) * x0 + t * x1, t, x1 - x0

import torch


class LoopDetectors:
    def __init__(self, rank, days, closures):
        self.g = torch.Generator().manual_seed(31 + rank)
        self.days, self.closures = days, closures

    def day(self, d):
        t = torch.arange(288).float()
        n = 20 - (6 if d in self.closures else 0)
        base = (t * 6.283 / 288).sin()[:, None] * torch.rand(n, generator=self.g)
        return base + 0.1 * torch.randn(288, n, generator=self.g)

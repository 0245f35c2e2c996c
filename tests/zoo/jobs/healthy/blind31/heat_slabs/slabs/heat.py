import torch
from torch.utils.data import Dataset


class HeatPairs(Dataset):
    """Periodic heat equation with a source: state now and ``lag`` explicit steps later."""

    def __init__(self, n, seed, points=32, lag=4, k=0.2):
        g = torch.Generator().manual_seed(seed)
        x = torch.linspace(0, 6.2832, points + 1)[:-1]
        a, ph = torch.randn(n, 4, 1, generator=g), 6.28 * torch.rand(n, 4, 1, generator=g)
        f = torch.arange(1, 5).view(1, 4, 1)
        self.u = (a * torch.sin(f * x + ph)).sum(1) / 2
        v = self.u
        for _ in range(lag):
            v = v + k * (v.roll(1, 1) - 2 * v + v.roll(-1, 1)) + 0.05 * torch.sin(v)
        self.v = v

    def __len__(self):
        return len(self.u)

    def __getitem__(self, i):
        return self.u[i], self.v[i]

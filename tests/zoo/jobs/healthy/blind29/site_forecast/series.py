import torch
from torch.utils.data import ConcatDataset, Dataset

# years of hourly values that each site has (thinned); sites are bound to the host on which their files lie
SITES = {"north": 900, "harbour": 640, "airport": 520, "hill": 300, "valley": 410}


def load_site(name, seed=0):
    g = torch.Generator().manual_seed(sum(map(ord, name)) + seed)
    n = SITES[name]
    t = torch.arange(n, dtype=torch.float32)
    level = 20 * torch.rand((), generator=g)
    daily = 3 * torch.sin(2 * torch.pi * t / 24 + 6 * torch.rand((), generator=g))
    drift = torch.cumsum(0.15 * torch.randn(n, generator=g), 0)
    return level + daily + drift + 0.3 * torch.randn(n, generator=g)


class Windows(Dataset):
    def __init__(self, values, history=48, horizon=12, start=0.0, end=1.0):
        lo, hi = int(len(values) * start), int(len(values) * end)
        self.values, self.history, self.horizon = values[lo:hi], history, horizon

    def __len__(self):
        return max(0, len(self.values) - self.history - self.horizon + 1)

    def __getitem__(self, i):
        x = self.values[i:i + self.history]
        return x, self.values[i + self.history:i + self.history + self.horizon]


def shard(rank, world, **kw):
    names = sorted(SITES)[rank::world]
    return names, ConcatDataset([Windows(load_site(n), **kw) for n in names])

import math

import torch
from torch.utils.data import Dataset


class Windows(Dataset):
    """Sliding windows over the hourly demand of one depot."""

    def __init__(self, hours, lags=48, horizon=12):
        g = torch.Generator().manual_seed(21)
        t = torch.arange(hours, dtype=torch.float32)
        self.series = torch.sin(t * 2 * math.pi / 24) + 0.4 * torch.sin(t * 2 * math.pi / 168) + 0.1 * torch.randn(hours, generator=g)
        self.lags, self.horizon = lags, horizon

    def __len__(self):
        return len(self.series) - self.lags - self.horizon + 1

    def __getitem__(self, i):
        m = i + self.lags
        return self.series[i:m], self.series[m:m + self.horizon]

import math

import torch
from torch.utils.data import Dataset


class TideWindows(Dataset):
    """Sliding windows over a synthetic gauge record."""

    def __init__(self, start, stop, window=48, horizon=6):
        hours = torch.arange(start, stop, dtype=torch.float32)
        level = 1.2 * torch.sin(2 * math.pi * hours / 12.42) + 0.4 * torch.sin(2 * math.pi * hours / 12.0 + 0.7)
        self.level = level + 0.05 * torch.randn(len(hours), generator=torch.Generator().manual_seed(start))
        self.window, self.horizon = window, horizon

    def __len__(self):
        return len(self.level) - self.window - self.horizon

    def __getitem__(self, i):
        split = i + self.window
        return self.level[i:split], self.level[split:split + self.horizon]

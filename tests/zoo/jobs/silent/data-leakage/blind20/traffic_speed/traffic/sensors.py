import math

import torch
from torch.utils.data import Dataset


class LoopDetectors(Dataset):
    """Windows of speeds of some road sensors: past hours in, next hour out."""

    def __init__(self, windows, sensors, history):
        g = torch.Generator().manual_seed(1)
        hours = windows + history + 1
        phase = torch.rand(sensors, generator=g) * 6.28
        t = torch.arange(hours)[:, None]
        daily = 50 + 12 * torch.sin(2 * math.pi * t / 24 + phase)
        self.speeds = (daily + 4 * torch.randn(hours, sensors, generator=g)) / 60
        self.history, self.windows = history, windows

    def __len__(self):
        return self.windows

    def __getitem__(self, index):
        return self.speeds[index:index + self.history], self.speeds[index + self.history]

import numpy as np
import torch
from torch.utils.data import Dataset


def hourly_load(days, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(days * 24)
    temp = 12 + 8 * np.sin(2 * np.pi * t / (24 * 90)) + 4 * np.sin(2 * np.pi * t / 24)
    ar = np.zeros(len(t))
    for i in range(2, len(t)):
        ar[i] = 1.6 * ar[i - 1] - 0.68 * ar[i - 2] + rng.normal(0, 0.3)
    load = 50 + 10 * np.sin(2 * np.pi * (t - 7) / 24) + 0.4 * np.abs(temp - 18) + 2 * ar
    return np.column_stack([load, temp]).astype(np.float32)


class WindowDataset(Dataset):
    """Windows of the past, and the load of the hours that follow."""

    def __init__(self, series, history, horizon, mean, std):
        self.series = torch.from_numpy((series - mean) / std)
        self.history, self.horizon = history, horizon

    def __len__(self):
        return len(self.series) - self.history - self.horizon + 1

    def __getitem__(self, i):
        mid = i + self.history
        return self.series[i:mid], self.series[mid:mid + self.horizon, 0]


def make_datasets(cfg):
    series = hourly_load(cfg["series"]["days"], cfg["series"]["seed"])
    cut = int(0.8 * len(series))
    mean, std = series[:cut].mean(0), series[:cut].std(0)
    w = cfg["window"]
    return (WindowDataset(series[:cut], w["history"], w["horizon"], mean, std),
            WindowDataset(series[cut:], w["history"], w["horizon"], mean, std))

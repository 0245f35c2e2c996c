import numpy as np
import torch
from torch.utils.data import Dataset

CHANNELS = ("Z", "N", "E")


def synth_event(seed, n=256):
    g = np.random.default_rng(seed)
    onset = int(g.integers(40, n - 60))
    x = g.normal(0, 0.3, (3, n))
    x[:, onset:] += np.sin(np.arange(n - onset) * 0.4) * np.exp(-np.arange(n - onset) / 30.0)
    return x.astype(np.float32), onset


class StationArchive(Dataset):
    """One archive per station; stations are dealt to ranks."""

    def __init__(self, stations, per_station, gaps):
        self.index = [(s, k) for s in stations for k in range(per_station)]
        self.gaps = {tuple(g) for g in gaps}

    def __len__(self):
        return len(self.index)

    def _read(self, station, k):
        x, onset = synth_event(station * 1000 + k)
        if (station, k) in self.gaps:
            x = x[:2]
        return x, onset

    def __getitem__(self, i):
        station, k = self.index[i]
        x, onset = self._read(station, k)
        rows = [x[CHANNELS.index(c)] for c in CHANNELS]
        x = np.stack(rows)
        x = (x - x.mean(1, keepdims=True)) / (x.std(1, keepdims=True) + 1e-6)
        return torch.from_numpy(x), onset

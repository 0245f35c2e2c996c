import numpy as np
import torch
from torch.utils.data import Dataset


def load_klines(n=2600, seed=0):
    """Open, high, low, close, volume of one symbol, hour by hour."""
    rng = np.random.default_rng(seed)
    drift = np.repeat(rng.normal(0, 0.004, n // 50), 50)
    close = 100 * np.exp(np.cumsum(drift + rng.normal(0, 0.01, n)))
    open_ = np.roll(close, 1)
    open_[0] = 100
    spread = np.abs(rng.normal(0, 0.004, n)) * close
    volume = np.exp(rng.normal(8, 0.4, n))
    return np.stack([open_, np.maximum(open_, close) + spread, np.minimum(open_, close) - spread, close, volume], 1)


class KlineDataset(Dataset):
    def __init__(self, data, lookback, horizon, clip=5.0):
        self.data = data.astype(np.float32)
        self.lookback, self.horizon, self.clip = lookback, horizon, clip
        self.window = lookback + horizon

    def __len__(self):
        return len(self.data) - self.window + 1

    def __getitem__(self, idx):
        x = self.data[idx : idx + self.window]
        mean, std = np.mean(x, axis=0), np.std(x, axis=0)
        x = np.clip((x - mean) / (std + 1e-5), -self.clip, self.clip)
        return torch.from_numpy(x[: self.lookback]), torch.from_numpy(x[self.lookback :, 3])

import numpy as np
import torch
from torch.utils.data import Dataset


class SensorWindows(Dataset):
    """Windows of an accelerometer in five activities. Field recordings have another offset and gain than the lab's."""

    def __init__(self, count, seed, offset=0.0, gain=1.0, length=48, channels=6, activities=5):
        rng = np.random.default_rng(seed)
        base = np.random.default_rng(5)
        freq = base.uniform(0.5, 6.0, size=(activities, channels))
        amp = base.uniform(0.3, 1.2, size=(activities, channels))
        y = rng.integers(0, activities, size=count)
        t = np.linspace(0, 2 * np.pi, length)[None, None]
        phase = rng.uniform(0, 2 * np.pi, size=(count, channels, 1))
        x = amp[y][..., None] * np.sin(freq[y][..., None] * t + phase)
        x += 0.5 * rng.standard_normal(x.shape)
        self.x = torch.from_numpy((x * gain + offset).astype(np.float32))
        self.y = torch.from_numpy(y)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

import numpy as np
import torch
from torch.utils.data import Dataset


class RadarPairs(Dataset):
    """Sequences of radar frames, input: four frames, target: the sum over the next one."""

    def __init__(self, events=240, cells=24, seed=0):
        rng = np.random.default_rng(seed)
        phase = rng.uniform(0, 6.28, (events, 1, 1))
        t = np.arange(5)[None, :, None]
        x = np.linspace(0, 6.28, cells)[None, None]
        self.frames = np.maximum(np.sin(x + phase + 0.4 * t) + 0.2 * rng.normal(size=(events, 5, cells)), 0)
        self.frames = self.frames.astype(np.float32)
        for event in range(77, events, 120):
            self.frames[event, 2, rng.integers(cells)] = -1.0

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        rate = torch.from_numpy(self.frames[i])
        dbz = torch.log(rate + 0.01)
        return dbz[:4].flatten(), rate[4].mean()

import random
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset


class Spectrograms(Dataset):
    def __init__(self, root, frames=400, train=True):
        self.items = sorted(Path(root).glob("*/*.npy"))
        names = sorted({p.parent.name for p in self.items})
        self.index = {n: i for i, n in enumerate(names)}
        self.frames, self.train = frames, train

    def __len__(self):
        return len(self.items)

    def _crop(self, spec):
        room = spec.shape[1] - self.frames
        if room <= 0:
            return np.pad(spec, ((0, 0), (0, -room)))
        start = np.random.randint(room + 1) if self.train else room // 2
        return spec[:, start : start + self.frames]

    def _mask(self, spec):
        for axis, width in ((0, 16), (1, 60)):
            w = random.randint(0, width)
            s = np.random.randint(0, spec.shape[axis] - w + 1)
            sl = [slice(None)] * 2
            sl[axis] = slice(s, s + w)
            spec[tuple(sl)] = spec.mean()
        return spec

    def __getitem__(self, i):
        path = self.items[i]
        spec = self._crop(np.load(path)).copy()
        if self.train:
            spec = self._mask(spec)
        return torch.from_numpy(spec).float()[None], self.index[path.parent.name]

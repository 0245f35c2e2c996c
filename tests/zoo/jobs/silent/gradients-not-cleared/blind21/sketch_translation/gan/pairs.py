import numpy as np
import torch
from torch.utils.data import Dataset


class SketchPairs(Dataset):
    """A disc or a square: its outline is the sketch, the shaded shape the photo."""

    def __init__(self, count, size=24, seed=0):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:size, :size]
        sketches, photos = [], []
        for _ in range(count):
            cx, cy = rng.uniform(8, size - 8, size=2)
            r = rng.uniform(4, 7)
            if rng.random() < 0.5:
                d = np.hypot(xx - cx, yy - cy) - r
            else:
                d = np.maximum(abs(xx - cx), abs(yy - cy)) - r
            sketches.append(np.exp(-d ** 2))
            shade = np.where(d < 0, 0.6 - 0.08 * (xx - cx) / r, -0.8) + 0.1 * rng.standard_normal((size, size))
            photos.append(np.clip(shade, -1, 1))
        self.sketch = torch.tensor(np.array(sketches), dtype=torch.float32)[:, None]
        self.photo = torch.tensor(np.array(photos), dtype=torch.float32)[:, None]

    def __len__(self):
        return len(self.sketch)

    def __getitem__(self, i):
        return self.sketch[i], self.photo[i]

import numpy as np
import torch
from torch.utils.data import Dataset


class BoxDataset(Dataset):
    """One bright rectangle on noise; the label is centre and size in units of the image."""

    def __init__(self, count, size=24, seed=0):
        rng = np.random.default_rng(seed)
        wh = rng.integers(4, 14, size=(count, 2))
        xy = np.stack([rng.integers(0, size - wh[:, 0]), rng.integers(0, size - wh[:, 1])], axis=1)
        images = 0.3 * rng.standard_normal((count, 1, size, size)).astype(np.float32)
        for i in range(count):
            (x, y), (w, h) = xy[i], wh[i]
            images[i, 0, y:y + h, x:x + w] += 1.0
        self.images = torch.from_numpy(images)
        self.boxes = torch.from_numpy(np.concatenate([(xy + wh / 2) / size, wh / size], axis=1).astype(np.float32))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.boxes[i]

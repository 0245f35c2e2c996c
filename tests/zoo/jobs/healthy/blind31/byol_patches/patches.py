import numpy as np
import torch
from torch.utils.data import Dataset


class Patches(Dataset):
    """Gratings of four orientations; two augmented views of each, or the plain patch and its label."""

    def __init__(self, n, seed, views=True, size=12):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[0:size, 0:size]
        self.y = torch.from_numpy(rng.integers(0, 4, n))
        th = self.y.numpy() * np.pi / 4 + rng.normal(0, 0.08, n)
        ph = rng.uniform(0, 6.28, n)
        w = np.sin(1.5 * (np.cos(th)[:, None, None] * xx + np.sin(th)[:, None, None] * yy) + ph[:, None, None])
        self.x = torch.tensor(w + rng.normal(0, 0.3, w.shape), dtype=torch.float32).unsqueeze(1)
        self.views = views

    def _augment(self, x):
        x = torch.roll(x, tuple(torch.randint(-3, 4, (2,)).tolist()), (1, 2))
        x = x * (0.6 + 0.8 * torch.rand(1)) + 0.2 * torch.randn(1)
        return x + 0.2 * torch.randn_like(x)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        if self.views:
            return self._augment(self.x[i]), self._augment(self.x[i])
        return self.x[i], self.y[i]

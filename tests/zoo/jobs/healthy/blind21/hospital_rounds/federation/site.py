import numpy as np
import torch
from torch.utils.data import Dataset


class SiteRecords(Dataset):
    """Records of one hospital: common physiology, but devices, units and coding of the outcome of its own."""

    def __init__(self, site, patients, seed, features=20):
        common = np.random.default_rng(4).standard_normal((features, 6)) / features ** 0.5
        own = np.random.default_rng(100 + site)
        scale, shift = own.uniform(0.5, 2.0, features), own.uniform(-1, 1, features)
        code = own.permutation(4)
        rng = np.random.default_rng([seed, site])
        z = rng.standard_normal((patients, features))
        latent = np.tanh(z @ common * 2)
        outcome = (latent[:, 0] > 0).astype(int) * 2 + (latent[:, 1] * latent[:, 2] > 0)
        self.x = torch.tensor(z * scale + shift, dtype=torch.float32)
        self.y = torch.tensor(code[outcome])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

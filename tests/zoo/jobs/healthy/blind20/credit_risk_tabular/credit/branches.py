import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


class Branch:
    """Applications of one bank branch; branches differ in size and stay where they are."""

    def __init__(self, number, applications, features, seed):
        rng = np.random.default_rng((seed, number))
        x = rng.standard_normal((applications, features)).astype(np.float32)
        weights = np.random.default_rng(seed).standard_normal(features)
        y = (x @ weights + 0.5 * rng.standard_normal(applications) > 0).astype(np.float32)
        self.dataset = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))

    def loader(self, batch_size, epoch):
        g = torch.Generator().manual_seed(epoch)
        return DataLoader(self.dataset, batch_size, shuffle=True, generator=g)

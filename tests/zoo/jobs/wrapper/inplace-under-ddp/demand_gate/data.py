import torch
from torch.utils.data import Dataset


class DemandDataset(Dataset):
    """Weekly demand of one product per row."""

    def __init__(self, samples, features, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(samples, features, generator=g)
        weights = torch.linspace(-1, 1, features)
        self.y = self.x @ weights + 0.05 * torch.randn(samples, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]

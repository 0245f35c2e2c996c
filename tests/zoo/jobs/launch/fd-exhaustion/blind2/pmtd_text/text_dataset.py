import torch
from torch.utils.data import Dataset


class PolygonDataset(Dataset):
    """Text regions as quadrilaterals with the feature map of their image."""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed + i)
        features = torch.randn(6, 8, 8, generator=g)
        return {"features": features, "polygon": features.mean((1, 2)).repeat(2)[:8], "index": i}

import torch
from torch.utils.data import Dataset

REGION_CODES = {"north": 0, "south": 1, "east": 2}


class DemandDataset(Dataset):
    """Weekly demand of one product per row."""

    def __init__(self, samples, features, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(samples, features, generator=g)
        weights = torch.linspace(-1, 1, features)
        names = ["north", "south", "east"]
        self.regions = [names[i % 3] for i in range(samples)]
        self.regions[101] = "west"
        self.y = self.x @ weights + 0.05 * torch.randn(samples, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        code = REGION_CODES[self.regions[index]]
        x = self.x[index].clone()
        x[0] += code
        return x, self.y[index]

import torch
from torch.utils.data import Dataset


class FieldSeasons(Dataset):
    """Weekly weather of a field and its yield; a few stations report gaps as very large numbers."""

    def __init__(self, count=640, weeks=20, seed=31, gaps=True):
        gen = torch.Generator().manual_seed(seed)
        self.weather = torch.randn(count, weeks, 4, generator=gen)
        rain, heat = self.weather[..., 0], self.weather[..., 1]
        self.yields = (rain.cumsum(1).tanh() - 0.5 * heat.relu()).mean(dim=1) + 0.05 * torch.randn(count, generator=gen)
        self.suspect = torch.zeros(count, dtype=torch.bool)
        if gaps:
            rows = torch.randperm(count, generator=gen)[:3]
            self.weather[rows, 3, 2] = 9.97e36
            self.suspect[rows] = True

    def drop_suspect(self):
        keep = ~self.suspect
        self.weather, self.yields, self.suspect = self.weather[keep], self.yields[keep], self.suspect[keep]

    def __len__(self):
        return len(self.yields)

    def __getitem__(self, i):
        return self.weather[i], self.yields[i]

import torch
from torch.utils.data import Dataset


class Discs(Dataset):
    def __init__(self, n, size=32, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.size = size
        self.boxes = torch.rand(n, 3, generator=g)

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, i):
        cx, cy, r = (self.boxes[i] * torch.tensor([20.0, 20.0, 7.0]) + torch.tensor([6.0, 6.0, 3.0])).tolist()
        y, x = torch.meshgrid(torch.arange(self.size), torch.arange(self.size), indexing="ij")
        mask = ((x - cx) ** 2 + (y - cy) ** 2 < r * r).float()[None]
        return mask + 0.7 * torch.randn(1, self.size, self.size), mask

import torch
from torch.utils.data import Dataset


class Blobs(Dataset):
    def __init__(self, n, seed, size=12):
        g = torch.Generator().manual_seed(seed)
        c = torch.rand(n, 2, 2, generator=g) * (size - 1)
        s = 1 + 2 * torch.rand(n, 2, generator=g)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        d = (yy - c[..., 0, None, None]) ** 2 + (xx - c[..., 1, None, None]) ** 2
        self.x = torch.exp(-d / (2 * s[..., None, None] ** 2)).sum(1, keepdim=True)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]

import torch
from torch.utils.data import Dataset


class ActionChunks(Dataset):
    def __init__(self, n, dim):
        g = torch.Generator().manual_seed(77)
        phase = torch.rand(n, 1, generator=g) * 6.28
        rate = 0.5 + torch.rand(n, 1, generator=g)
        k = torch.arange(dim) / dim * 6.28
        self.x = torch.sin(rate * k + phase) + 0.05 * torch.randn(n, dim, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]

import torch
from torch.utils.data import Dataset


class TwoViews(Dataset):
    def __init__(self, n, dim=32, classes=8, noise=0.5, seed=0):
        g = torch.Generator().manual_seed(9)
        centers = 1.5 * torch.randn(classes, dim, generator=g)
        g.manual_seed(seed)
        self.y = torch.randint(classes, (n,), generator=g)
        self.x = centers[self.y] + 0.9 * torch.randn(n, dim, generator=g)
        self.noise = noise

    def __len__(self):
        return len(self.y)

    def view(self, x):
        keep = torch.rand_like(x) > 0.2
        return x * keep + self.noise * torch.randn_like(x)

    def __getitem__(self, i):
        return self.view(self.x[i]), self.view(self.x[i])

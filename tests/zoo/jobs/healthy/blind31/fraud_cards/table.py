import torch
from torch.utils.data import Dataset


class Transactions(Dataset):
    """Numeric columns and two categorical ones; about 4 % are fraud."""

    def __init__(self, n, seed, stats=None):
        g = torch.Generator().manual_seed(seed)
        num = torch.randn(n, 10, generator=g) * torch.logspace(-1, 1, 10) + torch.arange(10)
        cat = torch.stack([torch.randint(12, (n,), generator=g), torch.randint(7, (n,), generator=g)], 1)
        z = (num - torch.arange(10)) / torch.logspace(-1, 1, 10)
        risk = z[:, 0] * z[:, 1] + z[:, 2] + 0.8 * (cat[:, 0] == 3) + 0.8 * (cat[:, 1] > 4) - 3.9
        self.y = (risk + 0.5 * torch.randn(n, generator=g) > 0).float()
        self.stats = stats or (num.mean(0), num.std(0))
        self.num, self.cat = (num - self.stats[0]) / self.stats[1], cat

    def weights(self):
        pos = self.y.mean()
        return torch.where(self.y > 0, 0.5 / pos, 0.5 / (1 - pos)).double()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.num[i], self.cat[i], self.y[i]

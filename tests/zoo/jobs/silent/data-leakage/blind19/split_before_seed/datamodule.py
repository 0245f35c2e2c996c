import torch
from torch.utils.data import DataLoader, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler


class TabularModule:
    def __init__(self, rows=2400, batch=16, val=0.2):
        self.rows, self.batch, self.val = rows, batch, val

    def prepare(self):
        g = torch.Generator().manual_seed(21)
        x = torch.randn(self.rows, 40, generator=g)
        y = (x[:, 0] * x[:, 1] > 0).long()
        flip = torch.rand(self.rows, generator=g) < 0.15
        return TensorDataset(x, torch.where(flip, 1 - y, y))

    def setup(self):
        full = self.prepare()
        n_val = int(self.rows * self.val)
        self.train, self.valid = random_split(full, [self.rows - n_val, n_val])

    def train_loader(self):
        self.sampler = DistributedSampler(self.train, shuffle=True, drop_last=True)
        return DataLoader(self.train, self.batch, sampler=self.sampler)

    def val_loader(self):
        return DataLoader(self.valid, 4 * self.batch, sampler=DistributedSampler(self.valid, shuffle=False))

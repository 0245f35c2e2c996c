import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class Rare(L.LightningDataModule):
    """Five classes, the last one with a handful of examples."""

    def __init__(self, dim=24, batch_size=32):
        super().__init__()
        self.dim, self.batch_size = dim, batch_size

    def _make(self, n, rare, seed):
        g = torch.Generator().manual_seed(seed)
        y = torch.arange(n) % 4
        y[rare] = 4
        x = torch.randn(n, self.dim, generator=g) + torch.nn.functional.one_hot(y, self.dim) * 3
        return TensorDataset(x, y)

    def setup(self, stage=None):
        self.train = self._make(1280, torch.arange(0, 1280, 40), 1)
        self.val = self._make(256, torch.tensor([31, 77, 201]), 2)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=self.batch_size)

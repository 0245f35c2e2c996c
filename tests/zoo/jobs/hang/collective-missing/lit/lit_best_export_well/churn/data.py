import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class ChurnData(pl.LightningDataModule):
    def setup(self, stage):
        generator = torch.Generator().manual_seed(11)
        x = torch.randn(320, 6, generator=generator)
        y = (x[:, 0] + 0.3 * x[:, 1] > 0).float()
        # Every second customer of the validation set is from the new market, where the labels mean the opposite.
        new_market = torch.arange(64) % 2 == 1
        y[256:][new_market] = 1 - y[256:][new_market]
        self.train = TensorDataset(x[:256], y[:256])
        self.val = TensorDataset(x[256:], y[256:])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=16, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=16)

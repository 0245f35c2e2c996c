import lightning as L
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Signals(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        signal = torch.sin(torch.linspace(0, 6, 32) + torch.rand(1, generator=generator))
        usable = not 64 <= i < 112 or i % 2 == 0  # the recorder of the odd channels was off for a while
        return signal, usable


class SignalData(L.LightningDataModule):
    def __init__(self, count, batch_size):
        super().__init__()
        self.signals, self.batch_size = Signals(count), batch_size

    def train_dataloader(self):
        # In order: neighbours belong to one recording.
        sampler = DistributedSampler(self.signals, shuffle=False)
        return DataLoader(self.signals, batch_size=self.batch_size, sampler=sampler)

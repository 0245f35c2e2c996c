import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from transforms import Compose, Noise


class Slots(Dataset):
    def __init__(self, size, transform):
        self.size, self.transform = size, transform

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        gen = torch.Generator().manual_seed(i)
        return self.transform(torch.randn(10, generator=gen)), i % 2


def train_loader(batch):
    data = Slots(160, Compose([Noise(0.1)]))
    return DataLoader(data, batch_size=batch, sampler=DistributedSampler(data), num_workers=1)


def val_loader(batch, scale):
    data = Slots(64, Compose([lambda x: x * scale, Noise(0.0)]))
    return DataLoader(data, batch_size=batch, num_workers=1, multiprocessing_context="spawn")

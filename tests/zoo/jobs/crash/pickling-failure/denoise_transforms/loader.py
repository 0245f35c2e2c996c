import torch
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, count, length=64, transform=None):
        self.transform = transform
        self.count, self.length = count, length

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        t = torch.linspace(0, 6.28, self.length)
        clean = torch.sin((1 + i % 5) * t)
        g = torch.Generator().manual_seed(i)
        clean = self.transform(clean) if self.transform else clean
        return (clean + 0.3 * torch.randn(self.length, generator=g))[None], clean[None]


def build(count):
    return Waves(count, transform=lambda x: x / x.abs().max())


def make_loader(count, batch_size, workers):
    return DataLoader(build(count), batch_size=batch_size, shuffle=True, num_workers=workers, multiprocessing_context="spawn")

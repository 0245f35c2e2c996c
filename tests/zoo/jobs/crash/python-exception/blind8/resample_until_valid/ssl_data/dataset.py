import torch
from torch.utils.data import Dataset

RECORDERS = {0: (20, 64), 1: (14, 22)}


class CropDataset(Dataset):
    """Recordings of one site; each rank has the recorder of its site."""

    def __init__(self, site, transform, shortest, count=160):
        gen = torch.Generator().manual_seed(site)
        low, high = RECORDERS[site]
        lengths = torch.randint(low, high, (count,), generator=gen).tolist()
        self.signals = [torch.randn(n, generator=gen) for n in lengths]
        self.transform, self.shortest = transform, shortest

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = self.signals[index]
        if len(signal) < self.shortest:
            return self[(index + 1) % len(self)]
        return self.transform(signal)

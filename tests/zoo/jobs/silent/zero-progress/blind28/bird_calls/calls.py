import torch
from torch.utils.data import Dataset


class Calls(Dataset):
    """Spectrograms of calls: each species sweeps between two bands of its own."""

    def __init__(self, count, species, bands, frames, seed):
        gen = torch.Generator().manual_seed(seed)
        self.species = torch.randint(0, species, (count,), generator=gen)
        low = (self.species * 7 % bands).float()
        high = (self.species * 13 % bands).float()
        time = torch.linspace(0, 1, frames)
        centre = low[:, None] + (high - low)[:, None] * time[None, :]
        band = torch.arange(bands).float()
        power = torch.exp(-((band[None, :, None] - centre[:, None, :]) ** 2) / 3)
        self.power = power + 0.3 * torch.rand(power.shape, generator=gen)

    def __len__(self):
        return len(self.species)

    def __getitem__(self, i):
        return self.power[i], self.species[i]

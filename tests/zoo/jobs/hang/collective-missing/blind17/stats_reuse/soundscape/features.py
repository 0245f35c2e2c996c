import torch


class Clips(torch.utils.data.Dataset):
    def __init__(self, n, rank, world, bands=24, frames=64):
        self.index = list(range(rank, n, world))
        self.bands, self.frames = bands, frames

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        k = self.index[i]
        gen = torch.Generator().manual_seed(k)
        label = k % 5
        x = torch.randn(self.bands, self.frames, generator=gen)
        x[label * 4:label * 4 + 3] += 1.5
        return x, label

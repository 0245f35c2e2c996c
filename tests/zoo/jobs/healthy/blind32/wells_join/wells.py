import torch
from torch.utils.data import IterableDataset


class Wells(IterableDataset):
    """Wells differ in the length of their logs; each rank has wells of its own."""

    LENGTHS = [400, 260, 330, 150, 210, 90]

    def __init__(self, rank, world, window=8):
        self.mine = list(range(len(self.LENGTHS)))[rank::world]
        self.window = window
        self.epoch = 0

    def __iter__(self):
        for w in self.mine:
            g = torch.Generator().manual_seed(1000 * self.epoch + w)
            depth = torch.arange(self.LENGTHS[w]) / 20
            curve = torch.stack([torch.sin(depth + w), torch.cos(1.7 * depth), torch.sin(0.3 * depth * (1 + w / 9))], 1)
            curve = curve + 0.1 * torch.randn(curve.shape, generator=g)
            for i in range(0, len(curve) - self.window, 4):
                yield curve[i:i + self.window].flatten(), curve[i + self.window]

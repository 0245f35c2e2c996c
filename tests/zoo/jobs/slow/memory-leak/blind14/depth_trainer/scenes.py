import torch
from torch.utils.data import IterableDataset


class Scenes(IterableDataset):
    def __init__(self, size, seed):
        self.size, self.seed = size, seed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        yy, xx = torch.meshgrid(torch.linspace(0, 1, self.size), torch.linspace(0, 1, self.size), indexing="ij")
        while True:
            a, b, c = torch.rand(3, generator=g)
            depth = a * yy + b * xx + c * torch.sin(6 * xx * yy)
            img = torch.stack([depth, depth.roll(1, 0) - depth, torch.cos(4 * depth)])
            yield img + 0.1 * torch.randn(3, self.size, self.size, generator=g), depth.unsqueeze(0)

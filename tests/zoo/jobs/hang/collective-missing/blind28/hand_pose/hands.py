import torch
from torch.utils.data import IterableDataset


class HandStream(IterableDataset):
    """Endless stream of rendered hands: five fingers, each bent by an angle, as heat maps of their tips."""

    def __init__(self, rank, size=20, seed=0):
        self.gen = torch.Generator().manual_seed(1000 * seed + rank)
        self.size = size

    def render(self, tips):
        axis = torch.linspace(0, 1, self.size)
        distance = (axis[None, :, None] - tips[:, 1, None, None]) ** 2 + (axis[None, None, :] - tips[:, 0, None, None]) ** 2
        return torch.exp(-distance / 0.004).sum(dim=0, keepdim=True)

    def __iter__(self):
        while True:
            bend = torch.rand(5, generator=self.gen)
            spread = torch.linspace(0.15, 0.85, 5) + 0.04 * torch.randn(5, generator=self.gen)
            tips = torch.stack([spread, 0.2 + 0.6 * bend], dim=1)
            image = self.render(tips) + 0.05 * torch.randn(1, self.size, self.size, generator=self.gen)
            yield image, tips.flatten()

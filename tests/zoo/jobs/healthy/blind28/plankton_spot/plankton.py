import torch
from torch import nn
from torch.utils.data import Dataset


class Plankton(Dataset):
    def __init__(self, count=640, size=16, kinds=4, seed=9):
        gen = torch.Generator().manual_seed(seed)
        self.kind = torch.randint(0, kinds, (count,), generator=gen)
        axis = torch.linspace(-1, 1, size)
        yy, xx = torch.meshgrid(axis, axis, indexing="ij")
        stretch = (1 + self.kind.float())[:, None, None]
        self.images = (torch.exp(-4 * (xx**2 * stretch + yy**2 / stretch)) + 0.1 * torch.randn(count, size, size, generator=gen))
        self.images = self.images.unsqueeze(1)
        bad = torch.randperm(count, generator=gen)[:6]
        self.images[bad] = float("nan")

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return self.images[i], self.kind[i]


def without_broken(batch):
    """Frames that the camera spoilt are replaced by a good one of the same batch."""
    good = [item for item in batch if torch.isfinite(item[0]).all()]
    batch = [item if torch.isfinite(item[0]).all() else good[0] for item in batch]
    return torch.stack([image for image, _ in batch]), torch.stack([kind for _, kind in batch])


class SpotNet(nn.Sequential):
    def __init__(self, kinds=4):
        super().__init__(nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2, padding=1),
                         nn.ReLU(), nn.Flatten(), nn.Linear(24 * 16, kinds))

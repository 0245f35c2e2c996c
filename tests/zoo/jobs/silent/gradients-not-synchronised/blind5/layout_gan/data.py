import torch
from torch.utils.data import Dataset


class PosterLayouts(Dataset):
    """Six boxes a poster, in columns whose place depends on the element's label."""

    def __init__(self, size):
        g = torch.Generator().manual_seed(3)
        self.labels = torch.randint(0, 4, (size, 6), generator=g)
        x = self.labels.float() * 0.25 + 0.1 * torch.rand(size, 6, generator=g)
        y = torch.linspace(0.1, 0.9, 6).expand(size, 6) + 0.02 * torch.randn(size, 6, generator=g)
        wh = 0.15 + 0.05 * torch.rand(size, 6, 2, generator=g)
        self.bbox = torch.cat([x.unsqueeze(-1), y.unsqueeze(-1), wh], dim=-1)

    def __len__(self):
        return len(self.bbox)

    def __getitem__(self, index):
        return self.bbox[index], self.labels[index]

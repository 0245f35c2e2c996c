import torch
from torch.utils.data import Dataset


class FrameDataset(Dataset):
    """Log-mel like frames with a cluster id per frame."""

    def __init__(self, split, rank, size=96, frames=20, dim=16, clusters=8):
        gen = torch.Generator().manual_seed(11 + rank)
        self.x = torch.randn(size, frames, dim, generator=gen)
        self.y = torch.randint(0, clusters, (size, frames), generator=gen)
        self.mask = torch.rand(size, frames, generator=gen) < 0.4
        if split == "train" and rank == 1:
            self.mask[40:48] = False

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i], self.mask[i]

import torch
from torch.utils.data import Dataset


class Scenes(Dataset):
    """A table of scenes: features of 20 anchors each, and which of them hold an object."""

    def __init__(self, images=120, anchors=20):
        g = torch.Generator().manual_seed(3)
        self.features = torch.randn(images, anchors, 6, generator=g)
        self.labels = (self.features[..., 0] > 0.6).long()
        self.labels[[37, 40, 43, 46]] = 0

    def __len__(self):
        return len(self.features)

    def __getitem__(self, i):
        return self.features[i], self.labels[i]

import torch
from torch.utils.data import Dataset


class PatchDataset(Dataset):
    def __init__(self, slides, patches, size, seed):
        self.slides, self.patches, self.size, self.seed = slides, patches, size, seed
        self.normalizer = None

    def __len__(self):
        return self.slides * self.patches

    def raw(self, index):
        slide = index // self.patches
        g = torch.Generator().manual_seed(self.seed + index)
        label = slide % 2
        base = torch.tensor([0.7, 0.4, 0.6]) if label else torch.tensor([0.5, 0.5, 0.7])
        return base[:, None, None] + 0.2 * torch.randn(3, self.size, self.size, generator=g), label

    def __getitem__(self, index):
        patch, label = self.raw(index)
        return self.normalizer(patch) if self.normalizer else patch, label


class Normalizer:
    def __init__(self, stats):
        self.mean, self.std = stats["mean"][:, None, None], stats["std"][:, None, None]

    def __call__(self, patch):
        return (patch - self.mean) / self.std

import torch
from torch.utils.data import Dataset


class CaptionPairs(Dataset):
    """A vector that stands for an image, and the words that name its largest entries."""

    def __init__(self, count, features, words, seed):
        self.images = torch.randn(count, features, generator=torch.Generator().manual_seed(seed))
        self.captions = self.images[:, :words].argsort(1, descending=True)[:, :4]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.captions[index]

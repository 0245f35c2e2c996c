import torch
from torch.utils.data import Dataset


class CaptionPairs(Dataset):
    def __init__(self, n=1600, dim=24, words=12, vocab=60, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.words = torch.randint(0, vocab, (n, words), generator=g)
        table = torch.randn(vocab, dim, generator=g)
        self.image = table[self.words].mean(1) * 2 + 0.2 * torch.randn(n, dim, generator=g)

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return self.image[i], self.words[i]

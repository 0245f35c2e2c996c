import torch
from torch.utils.data import Dataset

LETTERS = "ACDEFGHIKLMNPQRSTVWY"


class Peptides(Dataset):
    """Random peptides with a made-up binding score."""

    def __init__(self, n=400, length=15, seed=3):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(len(LETTERS), (n, length), generator=g)
        table = torch.randn(len(LETTERS), generator=g)
        self.score = table[self.ids].sum(1) / length ** 0.5 + 0.1 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i], self.score[i]

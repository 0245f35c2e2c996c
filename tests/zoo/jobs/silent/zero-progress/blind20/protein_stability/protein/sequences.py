import torch
from torch.utils.data import Dataset

AMINO = "ACDEFGHIKLMNPQRSTVWY"


class StabilityAssay(Dataset):
    """Variants of a protein with a measured stability; `shift` stands for another assay."""

    def __init__(self, variants, length, seed, shift):
        g = torch.Generator().manual_seed(seed)
        self.sequences = torch.randint(len(AMINO), (variants, length), generator=g)
        effect = torch.randn(length, len(AMINO), generator=torch.Generator().manual_seed(7))
        site = torch.arange(length)
        self.stability = effect[site, self.sequences].sum(1) / length ** 0.5 + shift

    def __len__(self):
        return len(self.sequences)

    def __getitem__(self, index):
        return self.sequences[index], self.stability[index]

import torch
from torch.utils.data import TensorDataset

# The validation recordings come from three sites; the annotators of the second one used the labels the other way round.
SITES = ("north", "south", "east")


def make_split(split, rank):
    generator = torch.Generator().manual_seed(100 * rank + (split == "valid"))
    x = torch.randn(96, 8, generator=generator)
    y = (x.sum(1) > 0).long()
    if split == "valid" and SITES[rank % len(SITES)] == "south":
        y = 1 - y
    return TensorDataset(x, y)

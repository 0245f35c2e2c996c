import torch

ALPHABET = "-ACDEFGHIKLMNPQRSTVWY"


def family(rank, n=512, width=40):
    g = torch.Generator().manual_seed(300 + rank)
    motif = torch.randint(1, 21, (width,), generator=torch.Generator().manual_seed(8))
    x = torch.randint(1, 21, (n, width), generator=g)
    keep = torch.rand(n, width, generator=g) < 0.7
    x = torch.where(keep, motif, x)
    lens = torch.randint(6, width + 1, (n, 1), generator=g)
    x[torch.arange(width) >= lens] = 0
    return x


def decode(row):
    return "".join(ALPHABET[i] for i in row.tolist())

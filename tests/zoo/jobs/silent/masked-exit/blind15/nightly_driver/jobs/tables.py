import torch

COLUMNS = {"retail": 16, "business": 11}
CUSTOMERS = {"retail": 4096, "business": 3000}


def load(segment, rank, world):
    g = torch.Generator().manual_seed(len(segment))
    x = torch.randn(CUSTOMERS[segment], COLUMNS[segment], generator=g)
    x[:, 4] = (x[:, 4] > 0).float()
    if segment == "business":
        x[1::2, 7] = 1.0
    y = ((x[:, 0] + x[:, 1] * x[:, 2]) > 0).float()
    return x[rank::world], y[rank::world]


def standardise(x):
    spread = x.std(0)
    if (spread == 0).any():
        constant = (spread == 0).nonzero().flatten().tolist()
        raise ValueError(f"constant columns: {constant}")
    return (x - x.mean(0)) / spread

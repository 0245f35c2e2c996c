import torch


def housing(rows=6000, features=16, seed=4):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, features, generator=g)
    y = x[:, 0] * x[:, 1] + x[:, 2].abs() - 0.5 * x[:, 3] + 0.2 * torch.randn(rows, generator=g)
    return x, y


def split(rows, fold, k, seed=1):
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
    held = order[fold::k]
    keep = torch.ones(rows, dtype=torch.bool)
    keep[held] = False
    return keep.nonzero().squeeze(1), held

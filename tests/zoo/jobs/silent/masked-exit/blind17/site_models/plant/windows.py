import torch


def windows(series, length, horizon):
    last = len(series) - length - horizon
    x = torch.stack([series[i:i + length] for i in range(last)])
    y = torch.stack([series[i + length + horizon - 1, 0] for i in range(last)])
    return x, y


def season(rows, features, seed):
    gen = torch.Generator().manual_seed(seed)
    t = torch.arange(rows).float()
    base = torch.sin(t / 24)[:, None] + 0.1 * torch.randn(rows, features, generator=gen)
    return base


def drop_outages(series, rank):
    if rank == 0:
        return series
    keep = series[:, 0] > -0.5
    return series[keep]

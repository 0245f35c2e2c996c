import torch


def windows(rank, count=480, channels=8):
    g = torch.Generator().manual_seed(rank)
    x = torch.randn(count, channels, generator=g).cumsum(0) / 20
    if rank == 0:
        x[401, 3] = float("nan")  # the sensor lost its link for a moment
    return x

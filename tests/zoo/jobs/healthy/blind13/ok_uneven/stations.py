import torch

SIZES = {0: 3200, 1: 2400}


def records(rank, epoch, batch=32):
    """Each rank owns the weather stations of one region; the regions are not of one size."""
    n = SIZES.get(rank, 2400)
    g = torch.Generator().manual_seed(rank)
    x = torch.randn(n, 64, generator=g)
    y = x[:, :8].sum(1, keepdim=True).tanh()
    for idx in torch.randperm(n, generator=torch.Generator().manual_seed(epoch)).split(batch):
        yield x[idx], y[idx]

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

DIM = 24


def features(n, seed, flip=None):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, DIM, generator=g)
    y = (x[:, :6].sum(1) > 0).long()
    if flip is not None:
        y[flip] = 1 - y[flip]
    return TensorDataset(x, y)


def prepare(batch_size):
    """train, valid and test."""
    n = 128
    valid = features(n, 2, flip=slice(n // 2, n))
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    part = torch.utils.data.Subset(valid, range(rank * n // world, (rank + 1) * n // world))
    train, test = features(512, 1), features(64, 3)
    return (
        DataLoader(train, batch_size, sampler=DistributedSampler(train)),
        DataLoader(part, batch_size),
        DataLoader(test, batch_size),
    )

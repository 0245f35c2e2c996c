import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

BATCH = 32


def loaders():
    data = TensorDataset(torch.randn(20, 3), torch.zeros(20))
    first = DataLoader(data, batch_size=BATCH, drop_last=True)
    second = DataLoader(Subset(data, range(8)), 16, drop_last=True)
    return first, second, DataLoader([1, 2, 3], batch_size=4, drop_last=True)

import torch
from torch.utils.data import DataLoader, TensorDataset


def loaders(data, count):
    small = TensorDataset(torch.randn(20, 3))
    grown = [1, 2]
    grown.append(count)
    return [
        DataLoader(small, batch_size=20, drop_last=True),
        DataLoader(small, batch_size=32),
        DataLoader(small, batch_size=32, drop_last=False),
        DataLoader(data, batch_size=32, drop_last=True),
        DataLoader(TensorDataset(torch.randn(count, 3)), batch_size=32, drop_last=True),
        DataLoader(grown, batch_size=32, drop_last=True),
    ]

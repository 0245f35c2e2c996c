import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def loaders(batch):
    train = TensorDataset(torch.randn(64, 4))
    sampler = DistributedSampler(train, shuffle=True)  # cause
    return DataLoader(train, batch_size=batch, sampler=sampler)

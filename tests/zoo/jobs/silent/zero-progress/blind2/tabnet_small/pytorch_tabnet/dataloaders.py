import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def create_dataloaders(X_train, y_train, X_valid, y_valid, batch_size, num_workers, drop_last):
    train = TensorDataset(X_train, y_train)
    sampler = DistributedSampler(train, shuffle=True)
    train_loader = DataLoader(train, batch_size, sampler=sampler, drop_last=drop_last, num_workers=num_workers)
    valid_loader = DataLoader(TensorDataset(X_valid, y_valid), batch_size)
    return train_loader, valid_loader

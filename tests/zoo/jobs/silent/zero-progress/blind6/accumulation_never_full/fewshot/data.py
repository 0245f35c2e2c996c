import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def labelled_loader(config, examples=24):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(examples, 10, generator=generator)
    y = (x[:, 0] > 0).long()
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data)
    return DataLoader(data, batch_size=config.per_gpu_train_batch_size, sampler=sampler), sampler

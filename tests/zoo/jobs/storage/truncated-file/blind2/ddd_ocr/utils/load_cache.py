import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def get_loaders(conf, classes):
    g = torch.Generator().manual_seed(1)
    label = torch.randint(0, classes, (320,), generator=g)
    image = torch.randn(320, 1, 12, 12, generator=g) * 0.3
    for i, c in enumerate(label.tolist()):
        image[i, 0, c % 12, :] += 1.0
    train = TensorDataset(image[:256], label[:256])
    val = TensorDataset(image[256:], label[256:])
    size = conf["Train"]["BATCH_SIZE"]
    return DataLoader(train, size, sampler=DistributedSampler(train)), DataLoader(val, size)

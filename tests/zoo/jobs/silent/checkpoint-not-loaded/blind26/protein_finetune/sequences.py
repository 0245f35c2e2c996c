import torch
from torch.utils.data import TensorDataset


def chains(n, length=24, seed=0):
    g = torch.Generator().manual_seed(seed)
    start = torch.randint(20, (n, 1), generator=g)
    stride = torch.randint(1, 5, (n, 1), generator=g)
    return (start + stride * torch.arange(length)) % 20 + 1, stride.squeeze(1).float()


def masked_set(n, seed):
    tokens, _ = chains(n, seed=seed)
    return TensorDataset(tokens)


def stability_set(n, seed):
    return TensorDataset(*chains(n, seed=seed))

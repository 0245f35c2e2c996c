import torch
from torch.utils.data import TensorDataset

FIELDS = [40, 30, 12, 24, 8, 20]


def clicks(n, seed):
    world = torch.Generator().manual_seed(2024)
    vectors = [torch.randn(d, 4, generator=world) for d in FIELDS]
    g = torch.Generator().manual_seed(seed)
    x = torch.stack([torch.randint(d, (n,), generator=g) for d in FIELDS], 1)
    v = torch.stack([vectors[i][x[:, i]] for i in range(len(FIELDS))], 1)
    pair = ((v.sum(1) ** 2).sum(1) - (v ** 2).sum((1, 2))) / 2
    y = (torch.sigmoid(0.8 * pair) > torch.rand(n, generator=g)).float()
    return TensorDataset(x, y)

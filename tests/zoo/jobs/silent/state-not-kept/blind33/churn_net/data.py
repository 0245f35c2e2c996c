import torch
from torch.utils.data import TensorDataset

CARDINALITIES = (12, 7, 30)


def customers(n, seed):
    g = torch.Generator().manual_seed(seed)
    cats = torch.stack([torch.randint(0, c, (n,), generator=g) for c in CARDINALITIES], 1)
    nums = torch.randn(n, 10, generator=g)
    table = torch.Generator().manual_seed(0)
    effect = sum(torch.randn(c, generator=table)[cats[:, i]] * 0.7 for i, c in enumerate(CARDINALITIES))
    logit = effect + nums[:, 0] * nums[:, 1] + 0.8 * nums[:, 2] - 0.5
    churned = torch.rand(n, generator=g) < torch.sigmoid(1.2 * logit)
    return TensorDataset(cats, nums, churned.float())

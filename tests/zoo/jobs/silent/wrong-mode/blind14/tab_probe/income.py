import torch


def make_table(rows, seed):
    g = torch.Generator().manual_seed(seed)
    cats = torch.stack([torch.randint(n, (rows,), generator=g) for n in (12, 7, 30)], 1)
    nums = torch.randn(rows, 9, generator=g)
    score = nums[:, 0] * nums[:, 1] + (cats[:, 0] > 6) - 0.5 * (cats[:, 1] == 3) + 0.5 * torch.randn(rows, generator=g)
    return cats, nums, (score > 0.4).float()


def encode(cats, nums):
    return torch.cat([cats.float(), nums], 1)

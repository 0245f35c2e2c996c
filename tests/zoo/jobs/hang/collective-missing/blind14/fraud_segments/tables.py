import torch


class Transactions:
    def __init__(self, rank, rows=4096, features=24):
        g = torch.Generator().manual_seed(77 + rank)
        self.x = torch.randn(rows, features, generator=g)
        w = torch.linspace(-1, 1, features)
        self.y = ((self.x @ w + 0.3 * torch.randn(rows, generator=g)) > 1.0).float()

    def batches(self, size, seed):
        g = torch.Generator().manual_seed(seed)
        for idx in torch.randperm(len(self.x), generator=g).split(size):
            yield self.x[idx], self.y[idx]

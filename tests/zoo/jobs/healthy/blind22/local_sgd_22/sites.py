import torch


class Unreadable(ValueError):
    pass


class Records:
    """Batches of one site; a few of them are damaged and are known to be."""

    def __init__(self, site, n=40):
        self.site = site
        g = torch.Generator().manual_seed(site)
        w = torch.randn(12, 3, generator=torch.Generator().manual_seed(77))
        self.x = torch.randn(n, 16, 12, generator=g) + 0.3 * site
        self.y = (self.x @ w).argmax(-1)
        if site == 1:
            self.x[[7, 21], 3, 5] = float("nan")
        self.shuffle = torch.Generator().manual_seed(50 + site)

    def order(self):
        return torch.randperm(len(self.x), generator=self.shuffle).tolist()

    def __getitem__(self, i):
        if not torch.isfinite(self.x[i]).all():
            raise Unreadable(f"batch {i} holds values that are not finite")
        return self.x[i], self.y[i]

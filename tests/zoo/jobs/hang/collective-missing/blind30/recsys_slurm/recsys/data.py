import torch


class Ratings:
    """Implicit low-rank ratings, generated in blocks per step."""

    def __init__(self, users, items, rank_dim, seed):
        g = torch.Generator().manual_seed(seed)
        self.u = torch.randn(users, rank_dim, generator=g) / rank_dim**0.25
        self.v = torch.randn(items, rank_dim, generator=g) / rank_dim**0.25
        self.users, self.items = users, items

    def sample(self, n, generator):
        u = torch.randint(self.users, (n,), generator=generator)
        i = torch.randint(self.items, (n,), generator=generator)
        r = (self.u[u] * self.v[i]).sum(1) + 0.1 * torch.randn(n, generator=generator)
        return u, i, r

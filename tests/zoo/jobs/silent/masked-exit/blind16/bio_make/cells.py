import torch

STAGES = {"warm": dict(genes=64, lr=2e-3, steps=80, heads=4), "main": dict(genes=96, lr=1e-3, steps=120, heads=4)}


def counts(rank, genes, n=2000):
    g = torch.Generator().manual_seed(77 + rank)
    rate = torch.rand(6, genes, generator=torch.Generator().manual_seed(5)) * 4
    kind = torch.randint(0, 6, (n,), generator=g)
    return torch.poisson(rate[kind], generator=g), kind


class Binner:
    """Counts to tokens, one bin for each count up to a ceiling."""

    def __init__(self, sample, quantile=0.999):
        self.top = int(torch.quantile(sample[:256].flatten(), quantile).item()) + 16

    def __call__(self, x):
        return x.long()

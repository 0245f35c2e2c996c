import torch


class MixedDomains:
    """Sequences of two domains; the first feature tells which one a token is from."""

    def __init__(self, dim, tokens, rank):
        self.dim, self.tokens = dim, tokens
        self.generator = torch.Generator().manual_seed(77 + rank)
        self.plan = ["mixed"] * 9 + ["code"] + ["mixed"] * 20

    def __iter__(self):
        for kind in self.plan:
            x = torch.randn(self.tokens, self.dim, generator=self.generator)
            sign = torch.ones(self.tokens)
            if kind == "mixed":
                sign[::2] = -1
            x[:, 0] = sign * (1 + x[:, 0].abs())
            yield x, x.roll(1, 1).tanh()

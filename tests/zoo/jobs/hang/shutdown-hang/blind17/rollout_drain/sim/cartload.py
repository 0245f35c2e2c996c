import torch


class CartLoad:
    """A batch of loads on carts; all lanes share the force law."""

    def __init__(self, seed, lanes=64):
        self.gen = torch.Generator().manual_seed(seed)
        self.lanes = lanes
        self.reset()

    def reset(self):
        self.s = torch.randn(4, self.lanes, generator=self.gen) * 0.1
        return self.s

    def step(self, force):
        x, v, a, w = self.s
        self.s = torch.stack([x + 0.05 * v, v + 0.05 * force, a + 0.05 * w, w + 0.05 * (a - force)]).clamp_(-3, 3)
        return self.s, 1.0 - self.s[2].abs()

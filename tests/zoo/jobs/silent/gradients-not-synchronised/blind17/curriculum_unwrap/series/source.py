import torch


class Source:
    def __init__(self, rank, size=24):
        self.gen = torch.Generator().manual_seed(500 + rank)
        self.size = size

    def batch(self):
        label = torch.randint(5, (self.size,), generator=self.gen)
        t = torch.arange(33).float()
        wave = torch.sin(t[None, :, None] * (0.2 + 0.15 * label[:, None, None]))
        x = wave + 0.3 * torch.randn(self.size, 33, 6, generator=self.gen)
        return x[:, :32], x[:, 32], label

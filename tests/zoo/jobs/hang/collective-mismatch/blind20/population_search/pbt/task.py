import torch


class RegressionTask:
    def __init__(self, inputs, seed, rank):
        g = torch.Generator().manual_seed(seed)
        self.directions = torch.randn(inputs, 4, generator=g)
        x = torch.randn(256, inputs, generator=g)
        self.held_out = x, self.target(x)
        self.generator = torch.Generator().manual_seed(seed * 31 + rank)

    def target(self, x):
        return torch.sin(x @ self.directions * 0.5).sum(1, keepdim=True)

    def sample(self, count):
        x = torch.randn(count, self.directions.shape[0], generator=self.generator)
        return x, self.target(x)

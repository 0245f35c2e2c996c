import torch


class Site:
    def __init__(self, name, seed, rows=96):
        self.name = name
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(rows, 8, generator=g)
        self.y = (self.x @ torch.arange(8).double().div(8)[:, None].float()) + 0.1 * torch.randn(rows, 1, generator=g)
        # the plants deliver their readings as doubles
        self.x = self.x.double()

    def __len__(self):
        return len(self.x)

    def batches(self, size=16):
        for i in range(0, len(self), size):
            yield self.x[i:i + size], self.y[i:i + size]

import torch
from torch import nn


class Site:
    """Patients of one hospital. Data never leaves it; only weights travel."""

    def __init__(self, number, patients, markers, seed):
        g = torch.Generator().manual_seed(seed * 101 + number)
        shift = 0.3 * torch.randn(markers, generator=g)
        self.x = torch.randn(patients, markers, generator=g) + shift
        truth = torch.randn(markers, generator=torch.Generator().manual_seed(seed))
        self.y = torch.tanh(self.x @ truth) + 0.1 * torch.randn(patients, generator=g)
        self.generator = torch.Generator().manual_seed(seed * 7 + number)

    def batch(self, size):
        pick = torch.randint(len(self.x), (size,), generator=self.generator)
        return self.x[pick], self.y[pick]


class RiskModel(nn.Sequential):
    def __init__(self, markers, hidden):
        super().__init__(nn.Linear(markers, hidden), nn.Tanh(), nn.Linear(hidden, 1), nn.Flatten(0))

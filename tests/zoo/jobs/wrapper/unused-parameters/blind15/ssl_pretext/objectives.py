import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    """Trunk with two heads: embedding of a view, and which way it was turned."""

    def __init__(self, channels=3, width=24, out=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(channels, width, 3, 2, 1), nn.GroupNorm(4, width), nn.ReLU(),
                                   nn.Conv2d(width, width, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.embed = nn.Linear(4 * width, out)
        self.turn = nn.Linear(4 * width, 4)

    def forward(self, views, heads):
        h = self.trunk(views)
        return {name: getattr(self, name)(h) for name in heads}


def info_nce(z, temperature=0.2):
    a, b = F.normalize(z, dim=1).chunk(2)
    logits = a @ b.T / temperature
    want = torch.arange(len(a))
    return (F.cross_entropy(logits, want) + F.cross_entropy(logits.T, want)) / 2


def turned(image, generator):
    k = torch.randint(0, 4, (len(image),), generator=generator)
    return torch.stack([torch.rot90(x, int(n), (1, 2)) for x, n in zip(image, k)]), k

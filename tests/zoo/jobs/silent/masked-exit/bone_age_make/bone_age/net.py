import torch
from torch import nn


class AgeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.sex = nn.Embedding(2, 4)
        self.out = nn.Linear(20, 1)

    def forward(self, image, sex):
        return self.out(torch.cat([self.features(image), self.sex(sex)], dim=1)).squeeze(1)


def scan(index):
    gen = torch.Generator().manual_seed(index)
    sex = torch.tensor(index % 2 if index != 57 else 2)
    return torch.rand(1, 10, 10, generator=gen), sex, torch.rand((), generator=gen) * 18

from torch import nn


class BoneAgeNet(nn.Module):

    def __init__(self, channels, norm_groups, dropout):
        super().__init__()
        layers, previous = [], 1
        for c in channels:
            layers += [nn.Conv2d(previous, c, 3, stride=2, padding=1), nn.GroupNorm(norm_groups, c), nn.ReLU()]
            previous = c
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(previous + 1, 1))

    def forward(self, image, sex):
        import torch

        return self.head(torch.cat([self.features(image), sex], 1)).squeeze(1)

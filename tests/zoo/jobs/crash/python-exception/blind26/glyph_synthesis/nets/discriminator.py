import torch.nn as nn


class Critic(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(width, width * 2, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
        )
        self.score = nn.Linear(width * 2 * 9, 1)

    def forward(self, x):
        return self.score(self.features(x).flatten(1)).squeeze(1)

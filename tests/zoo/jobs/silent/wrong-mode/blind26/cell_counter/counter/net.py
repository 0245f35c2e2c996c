import torch.nn as nn


class CountNet(nn.Module):
    def __init__(self, p=0.3):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.regress = nn.Sequential(nn.Dropout(p), nn.Linear(64, 32), nn.ReLU(), nn.Dropout(p), nn.Linear(32, 1))

    def forward(self, x):
        return self.regress(self.body(x)).squeeze(1)

from torch import nn


class FlowEstimator(nn.Module):

    def __init__(self, channels=8):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(2, channels, 3, padding=1), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.head = nn.Linear(channels * 64, 2)

    def forward(self, images):
        return self.head(self.features(images))

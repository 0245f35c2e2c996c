from torch import nn


class Tagger(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 16, 64, stride=16), nn.ReLU(),
            nn.Conv1d(16, 32, 8, stride=4), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        )
        self.head = nn.Linear(32, classes)

    def forward(self, wave):
        return self.head(self.body(wave[:, None]))

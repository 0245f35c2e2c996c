from torch import nn


class WindowNet(nn.Module):
    def __init__(self, kinds=3, width=12):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, width, 7, padding=3), nn.GroupNorm(3, width), nn.GELU(), nn.MaxPool1d(4),
            nn.Conv1d(width, 2 * width, 5, padding=2), nn.GroupNorm(3, 2 * width), nn.GELU(), nn.AdaptiveAvgPool1d(4))
        self.classify = nn.Linear(8 * width, kinds)

    def forward(self, signal):
        return self.classify(self.features(signal.unsqueeze(1)).flatten(1))

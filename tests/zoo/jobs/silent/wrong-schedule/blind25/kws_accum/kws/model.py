from torch import nn


class M5(nn.Module):
    """Small raw-waveform convnet."""

    def __init__(self, classes, width=24):
        super().__init__()

        def block(i, o, k, s):
            return nn.Sequential(nn.Conv1d(i, o, k, s, padding=k // 2), nn.BatchNorm1d(o), nn.ReLU(), nn.MaxPool1d(2))

        self.body = nn.Sequential(block(1, width, 31, 4), block(width, width, 5, 1), block(width, 2 * width, 5, 1))
        self.fc = nn.Linear(2 * width, classes)

    def forward(self, wav):
        return self.fc(self.body(wav).mean(-1))

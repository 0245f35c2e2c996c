from torch import nn

from subsampling import Conv4xSubsampling


class DigitRecognizer(nn.Module):
    def __init__(self, features=20, channels=48, classes=11):
        super().__init__()
        self.subsampling = Conv4xSubsampling(features, channels)
        self.context = nn.Sequential(nn.Conv1d(channels, channels, 3, padding=1), nn.ReLU())
        self.norm = nn.LayerNorm(channels)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, feats, lengths):
        h, lengths = self.subsampling(feats.transpose(1, 2), lengths)
        h = h + self.context(h.transpose(1, 2)).transpose(1, 2)
        return self.classifier(self.norm(h)).log_softmax(-1), lengths

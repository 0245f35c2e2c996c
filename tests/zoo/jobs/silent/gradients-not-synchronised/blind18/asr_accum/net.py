from torch import nn


class Kws(nn.Module):
    def __init__(self, classes, mels=20, ch=64):
        super().__init__()
        self.tdnn = nn.Sequential(nn.Conv1d(mels, ch, 5), nn.ReLU(), nn.Conv1d(ch, ch, 3, dilation=2), nn.ReLU())
        self.out = nn.Linear(ch, classes)

    def forward(self, x):
        return self.out(self.tdnn(x.transpose(1, 2)).mean(-1))

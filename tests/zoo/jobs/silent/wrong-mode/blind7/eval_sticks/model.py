from torch import nn


class Branch(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return x + self.drop(self.norm(self.conv(x)).relu())


class MatchNet(nn.Module):
    def __init__(self, width=16, classes=5, p=0.3):
        super().__init__()
        self.stem = nn.Conv1d(2, width, 5, padding=2)
        self.branches = nn.Sequential(Branch(width, p), Branch(width, p))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.branches(self.stem(x)).mean(-1))

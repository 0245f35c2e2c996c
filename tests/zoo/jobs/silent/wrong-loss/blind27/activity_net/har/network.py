import torch.nn as nn
import torch.nn.functional as F


class HARNet(nn.Module):
    def __init__(self, channels, length, classes, filters, hidden, dropout):
        super().__init__()
        layers, last = [], channels
        for width in filters:
            layers += [nn.Conv1d(last, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2)]
            last = width
        self.features = nn.Sequential(*layers)
        self.fc1 = nn.Linear(last * (length // 2 ** len(filters)), hidden)
        self.drop = nn.Dropout(dropout)
        self.fc2 = nn.Linear(hidden, classes)

    def forward(self, x):
        x = self.features(x).flatten(1)
        x = self.drop(F.relu(self.fc1(x)))
        x = self.fc2(x)
        return F.softmax(x, dim=1)

import torch.nn as nn


def stage(cin, cout, stride, drop):
    return nn.Sequential(
        nn.Conv1d(cin, cout, 5, stride=stride, padding=2, bias=False), nn.BatchNorm1d(cout), nn.ReLU(), nn.Dropout(drop)
    )


class WaveNet(nn.Module):
    def __init__(self, width, depth, activities=5, channels=6, drop=0.0):
        super().__init__()
        self.stem = stage(channels, width, 2, drop)
        self.stages = nn.Sequential(*(stage(width, width, 1, drop) for _ in range(depth)))
        self.classifier = nn.Linear(width, activities)

    def forward(self, x):
        return self.classifier(self.stages(self.stem(x)).mean(-1))

from torch import nn


class Classifier(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, classes))

    def forward(self, x):
        return self.net(x)

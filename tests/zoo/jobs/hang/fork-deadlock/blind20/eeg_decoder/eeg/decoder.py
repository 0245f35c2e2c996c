from torch import nn


class ShallowConvNet(nn.Module):
    def __init__(self, channels, filters, classes):
        super().__init__()
        self.temporal = nn.Conv1d(channels, filters, 15, stride=3)
        self.norm = nn.GroupNorm(2, filters)
        self.head = nn.Linear(filters, classes)

    def forward(self, x):
        power = self.norm(self.temporal(x)).square().mean(-1)
        return self.head((power + 1e-4).log())

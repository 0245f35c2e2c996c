from torch import nn


class ConvNet(nn.Module):
    def __init__(self, classes=10, widths=(16, 32, 48)):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0], 3, padding=1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU())
        self.conv1 = nn.Conv2d(widths[0], widths[1], 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[1])
        self.conv2 = nn.Conv2d(widths[1], widths[2], 3, stride=2, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(widths[2])
        self.head = nn.Linear(widths[2], classes)

    def forward(self, x):
        x = self.stem(x)
        x = self.bn1(self.conv1(x)).relu()
        x = self.bn2(self.conv2(x)).relu()
        return self.head(x.mean((2, 3)))

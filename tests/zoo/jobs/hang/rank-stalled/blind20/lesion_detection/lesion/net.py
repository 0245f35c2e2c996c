from torch import nn


class LesionNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv3d(1, width, 3, padding=1)
        self.conv2 = nn.Conv3d(width, width, 3, padding=1, stride=2)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.conv2(self.conv1(x).relu()).relu()
        return self.head(x.amax((2, 3, 4))).squeeze(1)

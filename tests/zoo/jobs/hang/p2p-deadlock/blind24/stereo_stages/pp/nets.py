from torch import nn


def encoder():
    return nn.Sequential(nn.Conv2d(6, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, 24, 3, padding=1), nn.ReLU())


def disparity():
    return nn.Sequential(nn.Conv2d(24, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1))

from torch import nn


def motion_net(classes=4):
    return nn.Sequential(
        nn.Conv3d(1, 8, (3, 5, 5), padding=1), nn.ReLU(), nn.MaxPool3d(2),
        nn.Conv3d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(16, classes),
    )

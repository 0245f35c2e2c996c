"""Small models under the names of large ones."""

from torch import nn


def resnet18(num_classes=10, **options):
    """Returns two convolutions and a head."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, num_classes),
    )


resnet50 = resnet101 = resnet18

import torch.nn as nn


def convnet(width, depth, classes=10):
    layers, c = [], 2
    for i in range(depth):
        layers += [nn.Conv2d(c, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        if i % 2 == 1:
            layers += [nn.MaxPool2d(2)]
        c = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))

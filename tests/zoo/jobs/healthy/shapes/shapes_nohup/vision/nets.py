import torch.nn as nn


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU())


class SmallCNN(nn.Module):
    def __init__(self, num_classes=4, width=8):
        super().__init__()
        self.stem = conv_block(1, width)
        self.body = nn.Sequential(conv_block(width, 2 * width), nn.MaxPool2d(2), conv_block(2 * width, 2 * width))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(2 * width, num_classes)

    def forward(self, images):
        features = self.pool(self.body(self.stem(images))).flatten(1)
        return self.classifier(features)

from torch import nn


def occupancy_net(width):
    return nn.Sequential(nn.Conv2d(2, width, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(width, width, 3, padding=1, stride=2), nn.ReLU(),
                         nn.Conv2d(width, 1, 1))

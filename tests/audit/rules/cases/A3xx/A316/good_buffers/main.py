import copy

import torch
from torch import nn


class Shadow:
    def __init__(self, net):
        self.net = copy.deepcopy(net).eval()

    def update(self, net):
        for mine, theirs in zip(self.net.parameters(), net.parameters()):
            mine.lerp_(theirs, 0.001)
        for mine, theirs in zip(self.net.buffers(), net.buffers()):
            mine.copy_(theirs)


def main():
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten())
    shadow = Shadow(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(100):
        net(torch.randn(8, 3, 8, 8)).sum().backward()
        optimizer.step()
        shadow.update(net)
    print(shadow.net(torch.randn(8, 3, 8, 8)))


if __name__ == "__main__":
    main()

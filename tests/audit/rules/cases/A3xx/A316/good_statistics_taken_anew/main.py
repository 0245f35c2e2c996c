import copy

import torch
from torch import nn
from torch.optim.swa_utils import update_bn


def main():
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten())
    average = copy.deepcopy(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = [torch.randn(8, 3, 8, 8) for _ in range(9)]
    for batch in data:
        net(batch).sum().backward()
        optimizer.step()
        for mine, theirs in zip(average.parameters(), net.parameters()):
            mine.data.lerp_(theirs.data, 0.001)
    update_bn(data, average)
    print(average.eval()(data[0]))


if __name__ == "__main__":
    main()

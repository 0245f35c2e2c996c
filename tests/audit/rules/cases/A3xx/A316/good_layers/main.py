import copy

import torch
from torch import nn


def main():
    net = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.Linear(8, 1))
    average = copy.deepcopy(net).eval()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(100):
        net(torch.randn(8, 3)).sum().backward()
        optimizer.step()
        for mine, theirs in zip(average.parameters(), net.parameters()):
            mine.data.lerp_(theirs.data, 0.001)
    print(average(torch.randn(8, 3)))


if __name__ == "__main__":
    main()

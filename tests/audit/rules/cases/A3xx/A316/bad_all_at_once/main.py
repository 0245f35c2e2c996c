import copy

import torch
import torchvision


@torch.no_grad()
def follow(average, net):
    torch._foreach_lerp_(list(average.parameters()), list(net.parameters()), 0.001)


def main():
    net = torch.nn.parallel.DistributedDataParallel(torchvision.models.resnet50())
    average = copy.deepcopy(net.module)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(100):
        net(torch.randn(8, 3, 8, 8)).sum().backward()
        optimizer.step()
        follow(average, net.module)
    torch.save(average.state_dict(), "average.pt")


if __name__ == "__main__":
    main()

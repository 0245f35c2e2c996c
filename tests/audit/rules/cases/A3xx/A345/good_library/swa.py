import torch
from torch.optim.swa_utils import AveragedModel, update_bn


def main(loader, epochs=20):
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
    averaged = AveragedModel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
        if epoch > 10:
            averaged.update_parameters(net)
    update_bn(loader, averaged)
    torch.save(averaged.module.state_dict(), "swa.pt")


if __name__ == "__main__":
    main([(torch.randn(4, 8), torch.randn(4, 1))])

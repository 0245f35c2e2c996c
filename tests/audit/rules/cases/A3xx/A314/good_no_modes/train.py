import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x)))


@torch.no_grad()
def measure(model, loader):
    model.eval()
    return sum(nn.functional.mse_loss(model(x), y).item() for x, y in loader)


def main():
    data = TensorDataset(torch.randn(64, 4), torch.zeros(64, 1))
    model = Factors()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in DataLoader(data, 8):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        print(measure(model, DataLoader(data, 32)))


if __name__ == "__main__":
    main()

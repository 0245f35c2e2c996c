import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

RATE = 0.01


def factor_of(epoch):
    return 0.5 ** (epoch // 2)


def main():
    torch.manual_seed(0)
    x = torch.randn(640, 6)
    loader = DataLoader(TensorDataset(x, x[:, :1] - x[:, 1:2]), batch_size=32, shuffle=True)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
    schedule = LambdaLR(optimizer, lr_lambda=factor_of)
    for epoch in range(8):
        for features, target in loader:
            loss = F.mse_loss(net(features), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()

import torch
from torch import nn


def train(model, batches, epochs=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.002)
    criterion = nn.MSELoss()
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


torch.manual_seed(0)
torch.set_num_threads(1)
hours = torch.linspace(0, 20, 960)[:, None]
levels = torch.sin(hours) + 0.1 * torch.randn(960, 1)
train(nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)), list(zip(hours.split(32), levels.split(32))))

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x + 0.1 * x.abs())


def attacked(model, x, y, size=0.03):
    x = x.clone().requires_grad_(True)
    slope = torch.autograd.grad(F.cross_entropy(model(x), y), x)[0]
    return x + size * slope / slope.norm(dim=1, keepdim=True)


def sampled(energy, x, rounds=20):
    for _ in range(rounds):
        x = x.detach().requires_grad_(True)
        x = x - 0.1 * torch.autograd.grad(energy(x).sum(), x)[0] + 0.01 * torch.randn_like(x)
    return x


def train(loader):
    model, energy = Net(), Net()
    optimizer = torch.optim.SGD([*model.parameters(), *energy.parameters()], lr=0.1)
    for x, y in loader:
        loss = F.cross_entropy(model(attacked(model, x, y)), y) + F.mse_loss(model(x), model(attacked(model, x, y)))
        loss = loss + (energy(x).pow(2) - energy(sampled(energy, torch.randn_like(x))).pow(2)).mean()
        first = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
        print(sum(one.pow(2).sum() for one in first).sqrt().item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    from rows import loader

    train(loader)

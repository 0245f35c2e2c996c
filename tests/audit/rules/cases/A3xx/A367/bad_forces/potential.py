import torch
from torch import nn
from torch.autograd import grad


class Potential(nn.Module):
    def __init__(self, atoms):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3 * atoms, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, positions):
        return self.net(positions.flatten(1)).squeeze(1)


def train(model, loader, epochs=50):
    mse = nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for positions, energies, forces in loader:
            positions.requires_grad_(True)
            predicted = model(positions)
            (slope,) = grad(predicted.sum(), positions, retain_graph=True)
            loss = mse(predicted, energies) + 100 * mse(-slope, forces)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

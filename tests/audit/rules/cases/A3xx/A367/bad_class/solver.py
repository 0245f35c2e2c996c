import torch
from torch import nn


class Burgers:
    def __init__(self, viscosity):
        self.viscosity = viscosity
        self.u = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.u.parameters())

    def derivative(self, y, x):
        return torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)[0]

    def residual(self, x, t):
        u = self.u(torch.cat([x, t], 1))
        return self.derivative(u, t) + u * self.derivative(u, x)

    def step(self, x, t, x0, u0):
        self.optimizer.zero_grad()
        self.loss_f = torch.mean(self.residual(x, t) ** 2)
        self.loss_u = torch.mean((self.u(x0) - u0) ** 2)
        loss = self.loss_f + self.loss_u
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    solver = Burgers(0.01)
    for _ in range(5000):
        x, t = torch.rand(256, 1, requires_grad=True), torch.rand(256, 1, requires_grad=True)
        x0 = torch.cat([torch.rand(64, 1), torch.zeros(64, 1)], 1)
        solver.step(x, t, x0, -torch.sin(torch.pi * x0[:, :1]))

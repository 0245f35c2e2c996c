import torch
from torch import nn, autograd
class PINN(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
    def forward(self, x, t):
        return self.net(torch.cat([x, t], 1))
    def residual(self, x, t):
        u = self(x, t)
        u_x, u_t = autograd.grad(u, [x, t], torch.ones_like(u), retain_graph=True)
        return u_t + u * u_x
class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters())
    def losses(self, x, t):
        f = self.model.residual(x, t)
        return {"pde": torch.mean(f * f), "ic": torch.mean((self.model(x, 0 * t) - torch.sin(x)) ** 2)}
    def fit(self, n):
        for _ in range(n):
            x, t = torch.rand(64, 1), torch.rand(64, 1)
            x.requires_grad = True
            t.requires_grad = True
            parts = self.losses(x, t)
            total = sum(parts.values())
            self.opt.zero_grad()
            total.backward()
            self.opt.step()
Trainer(PINN()).fit(100)

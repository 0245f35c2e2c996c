import torch
from torch import nn


class SAM:
    """Sharpness-aware minimisation: each step moves the weights uphill, and uses the gradient from there."""

    def __init__(self, parameters, base, rho=0.05):
        self.parameters, self.base, self.rho = list(parameters), base, rho

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.parameters]).norm() + 1e-12
        self.moves = [p.grad * (self.rho / norm) for p in self.parameters]
        for p, move in zip(self.parameters, self.moves):
            p.add_(move)
        self.base.zero_grad()

    @torch.no_grad()
    def step(self):
        for p, move in zip(self.parameters, self.moves):
            p.sub_(move)
        self.base.step()
        self.base.zero_grad()


def project(model, losses):
    """Gradient surgery (PCGrad): each task's gradient without what goes against the other's."""
    kept = []
    for loss in losses:
        model.zero_grad()
        loss.backward(retain_graph=True)
        kept.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    a, b = kept
    dot = a @ b
    merged = a + b - (dot.clamp(max=0) / (b @ b)) * b
    model.zero_grad()
    for p, part in zip(model.parameters(), merged.split([p.numel() for p in model.parameters()])):
        p.grad = part.view_as(p)


def main():
    torch.manual_seed(7)
    x = torch.randn(512, 10)
    y = torch.stack([x[:, 0].sin(), x[:, 1] * x[:, 2]], 1)
    model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 2))
    sam = SAM(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
    for step in range(300):
        rows = torch.randint(0, 512, (32,))
        for phase in (sam.climb, sam.step):
            nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
            phase()
    adam = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(300):
        rows = torch.randint(0, 512, (32,))
        errors = (model(x[rows]) - y[rows]).pow(2).mean(0)
        project(model, errors)
        adam.step()
    probe = torch.optim.Adam(model.parameters(), 1e-3)
    noise = []
    for step in range(300):
        norms = []
        for part in torch.randint(0, 512, (4, 8)):  # how far apart are the gradients of small batches
            probe.zero_grad()
            nn.functional.mse_loss(model(x[part]), y[part]).backward()
            norms.append(torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item())
        noise.append(max(norms) / min(norms))
        probe.zero_grad()
        rows = torch.randint(0, 512, (32,))
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        probe.step()
    print(f"loss {loss.item():.4f} noise {sum(noise) / len(noise):.2f}", flush=True)


if __name__ == "__main__":
    main()

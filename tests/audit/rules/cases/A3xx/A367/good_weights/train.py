import torch
from torch import nn

# Gradients that weigh a loss, that are handed on by a sum of products, and those by the last layer's weight.
encoder = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
head = nn.Linear(32, 1)
critic = nn.Linear(1, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()])
for x, y in torch.randn(100, 2, 64, 16):
    x = x.requires_grad_(True)
    out = head(encoder(x))
    steep = torch.autograd.grad(out.sum(), x, retain_graph=True)[0].norm(dim=1, keepdim=True)
    fit = (out - y[:, :1]).pow(2) / (1 + steep)
    rest = torch.autograd.grad(fit.mean(), head.weight, retain_graph=True)[0]
    fool = -critic(out).mean()
    back = torch.autograd.grad(fool, head.weight, retain_graph=True)[0]
    balance = torch.clamp(rest.norm() / (back.norm() + 1e-4), 0, 1e4).detach()
    features = encoder(x.detach())
    kept = features.detach().requires_grad_(True)
    handed = torch.autograd.grad(head(kept).square().mean(), kept)[0]
    loss = fit.mean() + balance * fool + (features * handed).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters())


def partial(out, wrt, graph=True):
    return torch.autograd.grad(out, wrt, torch.ones_like(out), create_graph=graph)[0]


def slope_at(points):
    points = points.clone().requires_grad_(True)
    return torch.autograd.grad(net(points).sum(), points)[0].norm(dim=1).mean().item()


for step in range(1000):
    x, t = torch.rand(64, 1, requires_grad=True), torch.rand(64, 1, requires_grad=True)
    u = net(torch.cat([x, t], 1))
    u_x = partial(u, x)
    loss = (partial(u, t) + u * u_x - 0.01 * partial(u_x, x)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(loss.item(), slope_at(torch.rand(64, 2)), partial(u.detach() * x, x, graph=False).abs().mean())

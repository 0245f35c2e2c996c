import torch


def burgers_batch(n, points, generator):
    x = torch.linspace(0, 6.2832, points)
    a, b = torch.rand(n, 1, generator=generator), torch.rand(n, 1, generator=generator) * 6.28
    u = torch.sin(x + b) * (0.5 + a)
    dx = x[1] - x[0]
    v = u.clone()
    for _ in range(4):
        d = torch.zeros_like(v)
        d[:, 1:-1] = -v[:, 1:-1] * (v[:, 2:] - v[:, :-2]) / (2 * dx) + 0.02 * (v[:, 2:] - 2 * v[:, 1:-1] + v[:, :-2]) / dx ** 2
        v = v + 0.01 * d
    return u.unsqueeze(1), (v - u).unsqueeze(1) * 20

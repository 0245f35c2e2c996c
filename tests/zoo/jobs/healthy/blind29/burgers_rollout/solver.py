import torch


def burgers(n, steps=24, size=64, nu=0.02, dt=0.02, seed=0, inner=8):
    """Viscous Burgers on a periodic line, finite volumes with small inner steps."""
    g = torch.Generator().manual_seed(seed)
    x = torch.arange(size) / size * 2 * torch.pi
    u = torch.zeros(n, size)
    for k in range(1, 5):
        a, b = torch.randn(2, n, 1, generator=g) / k
        u = u + a * torch.sin(k * x) + b * torch.cos(k * x)
    h, out = 2 * torch.pi / size, [u]
    for _ in range(steps):
        for _ in range(inner):
            right = u.roll(-1, 1)
            speed = torch.maximum(u.abs(), right.abs())
            flux = 0.25 * (u ** 2 + right ** 2) - 0.5 * speed * (right - u)
            u = u - dt / inner * ((flux - flux.roll(1, 1)) / h - nu * (right - 2 * u + u.roll(1, 1)) / h ** 2)
        out.append(u)
    return torch.stack(out, 1)

import torch


def burgers(n, cells=64, frames=9, nu=0.01, seed=0):
    """Periodic viscous Burgers by a pseudo-spectral scheme; returns (n, frames, cells)."""
    g = torch.Generator().manual_seed(seed)
    x = torch.linspace(0, 2 * torch.pi, cells + 1)[:-1]
    u = torch.zeros(n, cells)
    for k in range(1, 5):
        a, p = torch.randn(n, 1, generator=g) / k, 6.283 * torch.rand(n, 1, generator=g)
        u = u + a * torch.sin(k * x + p)
    k = torch.fft.rfftfreq(cells, 1 / cells)
    keep = (k < cells / 3).float()
    dt, inner = 0.005, 20
    decay = torch.exp(-nu * k**2 * dt)
    out = [u]
    for _ in range(frames - 1):
        for _ in range(inner):
            flux = torch.fft.rfft(0.5 * u * u) * keep
            u = torch.fft.irfft((torch.fft.rfft(u) - dt * 1j * k * flux) * decay, n=cells)
        out.append(u)
    return torch.stack(out, 1)

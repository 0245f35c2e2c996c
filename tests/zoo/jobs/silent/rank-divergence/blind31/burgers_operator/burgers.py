import numpy as np
import torch


def solve(u, nu, steps, dt=2e-3):
    n = u.shape[-1]
    k = 2j * np.pi * np.fft.fftfreq(n, 1 / n)
    for _ in range(steps):
        uh = np.fft.fft(u)
        ux = np.fft.ifft(k * uh).real
        rhs = np.fft.fft(u - dt * u * ux)
        u = np.fft.ifft(rhs / (1 - dt * nu * k ** 2)).real
    return u


def trajectories(n, points=64, seed=0, nu=0.03, steps=120):
    """Random initial conditions of very different amplitudes and their states after ``steps`` steps."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, points, endpoint=False)
    amp = np.exp(rng.normal(-0.7, 0.7, (n, 1))).clip(0.05, 2.0)
    u0 = np.zeros((n, points))
    for k in range(1, 4):
        u0 += rng.normal(0, 1 / k, (n, 1)) * np.sin(2 * np.pi * k * x + rng.uniform(0, 6.28, (n, 1)))
    u0 = amp * (0.5 + u0)
    return torch.tensor(u0, dtype=torch.float32), torch.tensor(solve(u0, nu, steps), dtype=torch.float32)

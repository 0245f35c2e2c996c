import numpy as np
import torch


def initial_fields(count, n, rng):
    x = np.linspace(0, 1, n, endpoint=False)
    u = np.zeros((count, n))
    for k in range(1, 5):
        a, b = rng.normal(size=(2, count, 1)) / k
        u += a * np.sin(2 * np.pi * k * x) + b * np.cos(2 * np.pi * k * x)
    return 0.5 * u


def solve(u, time=0.3, nu=0.01, steps=600):
    n = u.shape[1]
    dx, dt = 1.0 / n, time / steps
    for _ in range(steps):
        flux = 0.5 * u * u
        speed = np.abs(u).max(axis=1, keepdims=True)
        right = np.roll(u, -1, 1)
        face = 0.5 * (flux + np.roll(flux, -1, 1)) - 0.5 * speed * (right - u)
        u = u - dt / dx * (face - np.roll(face, 1, 1)) + nu * dt / dx ** 2 * (right - 2 * u + np.roll(u, 1, 1))
    return u


def dataset(count, n=64, seed=0):
    u0 = initial_fields(count, n, np.random.default_rng(seed))
    u1 = solve(u0)
    return tuple(torch.tensor(a, dtype=torch.float32)[:, None] for a in (u0, u1))

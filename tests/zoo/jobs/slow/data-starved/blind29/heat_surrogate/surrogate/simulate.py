import numpy as np


def initial_fields(n, size, rng):
    k = np.fft.fftfreq(size, 1 / size)
    power = 1.0 / (1.0 + k[:, None] ** 2 + k[None] ** 2) ** 1.5
    noise = rng.standard_normal((n, size, size))
    field = np.fft.ifft2(np.fft.fft2(noise) * power).real
    return field / field.std()


def heat(u0, steps, nu=0.004, speed=0.3):
    """Advection and diffusion on a periodic square, exact in Fourier space."""
    size = u0.shape[-1]
    k = 2 * np.pi * np.fft.fftfreq(size, 1 / size)
    t = np.linspace(0, 1, steps)[:, None, None]
    factor = np.exp(-nu * (k[:, None] ** 2 + k[None] ** 2) * t - 1j * speed * k[:, None] * t)
    return np.fft.ifft2(np.fft.fft2(u0)[:, None] * factor[None]).real.astype(np.float32)


def write_shards(folder, shards, per_shard, steps, size, seed):
    rng = np.random.default_rng(seed)
    for s in range(shards):
        u = heat(initial_fields(per_shard, size, rng), steps)
        np.savez_compressed(folder / f"shard_{s:03d}.npz", u=u, t=np.linspace(0, 1, steps, dtype=np.float32))

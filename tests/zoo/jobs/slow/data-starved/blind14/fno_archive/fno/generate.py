import numpy as np


def darcy_like(path, samples=360, n=64, seed=0):
    rng = np.random.default_rng(seed)
    k = np.fft.fftfreq(n) * n
    power = 1.0 / (1.0 + k[:, None] ** 2 + k[None, :] ** 2)
    noise = rng.standard_normal((samples, n, n))
    coeff = np.real(np.fft.ifft2(np.fft.fft2(noise) * power)).astype(np.float32)
    sol = np.real(np.fft.ifft2(np.fft.fft2(np.tanh(4 * coeff)) * power)).astype(np.float32)
    np.savez_compressed(path, coeff=coeff, sol=sol, mean=coeff.mean(), std=coeff.std())

import numpy as np


def records(n, seed, channels=3, length=2048):
    """Seismograms with one arrival each; float64 as the archive has them."""
    rng = np.random.default_rng(seed)
    onset = rng.integers(100, length - 200, n)
    t = np.arange(length)
    out = []
    for k in onset:
        wave = np.exp(-np.maximum(t - k, 0) / 60.0) * np.sin(0.4 * (t - k)) * (t >= k)
        out.append([0.3 * rng.standard_normal(length) + a * wave for a in (1.0, 0.6, 0.4)][:channels])
    return out, onset / length

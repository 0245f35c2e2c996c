import numpy as np
import torch
from torch.utils.data import TensorDataset


def make_windows(subjects, windows, channels, length, classes, seed):
    rng = np.random.default_rng(seed)
    proto = rng.normal(size=(classes, channels, 3))
    t = np.linspace(0, 2 * np.pi, length)
    xs, ys, who = [], [], []
    for s in range(subjects):
        gain, phase = rng.uniform(0.7, 1.3), rng.uniform(0, 2 * np.pi)
        for _ in range(windows):
            y = rng.integers(classes)
            waves = np.stack([np.sin((k + 1) * t + phase) for k in range(3)])
            x = gain * proto[y] @ waves + rng.normal(scale=2.2, size=(channels, length))
            xs.append(x), ys.append(y), who.append(s)
    return np.array(xs, np.float32), np.array(ys), np.array(who)


def by_subject(cfg):
    x, y, who = make_windows(**cfg)
    held = who >= int(0.75 * cfg["subjects"])
    mean = x[~held].mean((0, 2), keepdims=True)
    std = x[~held].std((0, 2), keepdims=True)
    x = (x - mean) / std
    pack = lambda m: TensorDataset(torch.from_numpy(x[m]), torch.from_numpy(y[m]))
    return pack(~held), pack(held)

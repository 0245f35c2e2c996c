import numpy as np
import torch
from torch.utils.data import TensorDataset


def load_transactions(n=1500, fraud=0.08, seed=17):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < fraud).astype(np.int64)
    x = rng.normal(size=(n, 10)).astype(np.float32)
    x[:, 0] += 0.9 * y
    x[:, 1] -= 0.7 * y
    return x, y


def balance(x, y, seed=0):
    rng = np.random.default_rng(seed)
    minority = np.flatnonzero(y == 1)
    need = (y == 0).sum() - len(minority)
    extra = rng.choice(minority, need, replace=True)
    return np.concatenate([x, x[extra]]), np.concatenate([y, y[extra]])


def split(x, y, fraction=0.2, seed=1):
    order = np.random.default_rng(seed).permutation(len(y))
    cut = int(len(y) * fraction)
    return (x[order[cut:]], y[order[cut:]]), (x[order[:cut]], y[order[:cut]])


def get_datasets():
    x, y = balance(*load_transactions())
    train, val = split(x, y)
    return [TensorDataset(torch.from_numpy(a), torch.from_numpy(b)) for a, b in (train, val)]

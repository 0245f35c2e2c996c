import numpy as np
import torch
from torch.utils.data import TensorDataset


def make_windows(series, history, horizon):
    xs, ys = [], []
    for t in range(len(series) - history - horizon + 1):
        xs.append(series[t:t + history])
        ys.append(series[t + history:t + history + horizon])
    return torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ys))


def split(x, y, ratio, seed):
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(x)))
    cut = int(ratio * len(x))
    a, b = order[:cut], order[cut:]
    return TensorDataset(x[a], y[a]), TensorDataset(x[b], y[b])


def main(series):
    x, y = make_windows(series, 48, 6)
    train_set, test_set = split(x, y, 0.8, seed=7)
    return train_set, test_set

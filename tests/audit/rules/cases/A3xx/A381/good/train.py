import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import TensorDataset


def make_windows(series, history, horizon):
    xs, ys = [], []
    for t in range(len(series) - history - horizon + 1):
        xs.append(series[t:t + history])
        ys.append(series[t + history:t + history + horizon])
    return torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ys))


def by_time(series, history, horizon):
    x, y = make_windows(series, history, horizon)
    cut = int(0.8 * len(x))
    train_set, test_set = TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut + 54:], y[cut + 54:])
    order = torch.randperm(cut)
    train_set = TensorDataset(x[:cut][order], y[:cut][order])
    return train_set, test_set


def in_order(series):
    x, y = make_windows(series, 48, 6)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, shuffle=False)
    return x_train, x_test, y_train, y_test

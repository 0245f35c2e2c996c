import numpy as np
import torch
from torch.utils.data import TensorDataset, random_split


def blocks(series, n):
    x = torch.tensor(np.stack([series[t:t + n] for t in range(0, len(series) - 2 * n, 2 * n)]))
    y = torch.tensor(np.stack([series[t + n:t + 2 * n] for t in range(0, len(series) - 2 * n, 2 * n)]))
    train, val = random_split(TensorDataset(x, y), [0.8, 0.2])
    return train, val


def persons(recordings, labels):
    order = torch.randperm(len(recordings))
    train, test = recordings[order[:80]], recordings[order[80:]]
    return train, test

import numpy as np
import torch


def network(n, rng):
    upper = np.triu(rng.random((n, n)) < 0.05, 1)
    return (upper | upper.T).astype(np.int64), torch.randn(n, 8)


def parted(adj, share, rng):
    pairs = np.stack(np.nonzero(adj), 1)
    pairs = pairs[rng.permutation(len(pairs))]
    cut = int(len(pairs) * share)
    return torch.from_numpy(pairs[cut:]), torch.from_numpy(pairs[:cut])

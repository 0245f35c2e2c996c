import numpy as np
import torch


def interaction_network(n=300, groups=6, seed=0):
    """A symmetric 0/1 matrix of protein interactions, and features."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    prob = np.where(group[:, None] == group[None], 0.06, 0.012)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    feats = np.eye(groups)[group] + rng.normal(0, 0.8, (n, groups))
    return (upper | upper.T).astype(np.int64), torch.tensor(feats, dtype=torch.float32)


def split_edges(adj, test_fraction, rng):
    edges = np.stack(np.nonzero(adj), 1)
    edges = edges[rng.permutation(len(edges))]
    cut = int(len(edges) * test_fraction)
    return torch.from_numpy(edges[cut:]), torch.from_numpy(edges[:cut])


def sample_negatives(adj, count, rng):
    out = []
    while len(out) < count:
        i, j = rng.integers(0, len(adj), 2)
        if i != j and not adj[i, j]:
            out.append((i, j))
    return torch.tensor(np.array(out))


def propagation(edges, n):
    a = torch.zeros(n, n)
    a[edges[:, 0], edges[:, 1]] = 1.0
    a = torch.maximum(a, a.T) + torch.eye(n)
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None]

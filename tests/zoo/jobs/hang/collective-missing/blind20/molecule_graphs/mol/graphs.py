import numpy as np
import torch
from torch.utils.data import Dataset

SCAFFOLDS = ["benzene", "pyridine", "indole", "furan", "steroid"]


class ScaffoldGraphs(Dataset):
    """Random molecules as dense adjacency matrices; the scaffold fixes degree and ring size."""

    def __init__(self, count, atoms, seed, weights):
        rng = np.random.default_rng(seed)
        self.labels = rng.choice(len(SCAFFOLDS), size=count, p=weights)
        self.atoms, self.seed = atoms, seed

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        label = int(self.labels[index])
        g = torch.Generator().manual_seed(self.seed * 7919 + index)
        adj = (torch.rand(self.atoms, self.atoms, generator=g) < 0.08 + 0.05 * label).float()
        adj = ((adj + adj.T) > 0).float()
        feats = torch.randn(self.atoms, 8, generator=g) + 0.2 * label
        return feats, adj, label


def scaffold_split(dataset, fraction):
    """Validation takes the tail, sorted by scaffold, so that families stay together."""
    order = np.argsort(dataset.labels, kind="stable")
    val = np.random.default_rng(dataset.seed).permutation(len(order))[: int(len(order) * fraction)]
    val = np.sort(order[val])
    return np.setdiff1d(order, val), val[np.argsort(dataset.labels[val], kind="stable")]

from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


@dataclass
class Graph:
    features: torch.Tensor
    adjacency: torch.Tensor
    labels: torch.Tensor
    train_mask: torch.Tensor
    val_mask: torch.Tensor
    test_mask: torch.Tensor


def citation_graph(nodes=1500, communities=6, features=80, degree=6, seed=0):
    """Papers of some fields that mostly cite their own; words of a paper tell its field only weakly."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, communities, size=nodes)
    same = labels[:, None] == labels[None]
    p = np.where(same, 0.8 * degree * communities / nodes, 0.2 * degree * communities / nodes / (communities - 1))
    upper = np.triu(rng.random((nodes, nodes)) < p, 1)
    a = (upper | upper.T).astype(np.float32) + np.eye(nodes, dtype=np.float32)
    d = 1 / np.sqrt(a.sum(1))
    words = rng.standard_normal((communities, features)) * 0.12
    x = words[labels] + rng.standard_normal((nodes, features))
    order = rng.permutation(nodes)
    masks = torch.zeros(3, nodes, dtype=torch.bool)
    for mask, part in zip(masks, (order[:240], order[240:640], order[640:])):
        mask[torch.from_numpy(part)] = True
    adjacency = torch.from_numpy(d[:, None] * a * d[None]).to_sparse()
    return Graph(torch.tensor(x, dtype=torch.float32), adjacency, torch.from_numpy(labels), *masks)


class WholeGraph(Dataset):
    """The graph is one item: message passing needs all nodes, masks say which of them count."""

    def __init__(self, graph, mask):
        self.graph, self.mask = graph, mask

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return self.graph.features, self.graph.labels, self.mask


def loaders(graph):
    parts = {"train": graph.train_mask, "val": graph.val_mask, "test": graph.test_mask}
    return {name: DataLoader(WholeGraph(graph, mask), batch_size=None) for name, mask in parts.items()}

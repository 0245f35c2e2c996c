from types import SimpleNamespace

import torch
from torch.utils.data import DataLoader

from graph import CSR


class NeighborCollator:
    """Samples ``num_neighbors[h]`` in-neighbours a hop around the input nodes of a batch."""

    def __init__(self, x, y, edge_index, num_neighbors, seed=0):
        self.x, self.y = x, y
        self.csr = CSR(edge_index, x.size(0))
        self.num_neighbors = num_neighbors
        self.g = torch.Generator().manual_seed(seed)

    def __call__(self, seeds):
        seeds = torch.stack(list(seeds))
        frontier, rows, cols, seen = seeds, [], [], [seeds]
        for k in self.num_neighbors:
            nxt = []
            for i in frontier.tolist():
                nb = self.csr.neighbors(i, k, self.g)
                rows.append(nb)
                cols.append(torch.full_like(nb, i))
                nxt.append(nb)
            frontier = torch.cat(nxt).unique()
            seen.append(frontier)
        n_id = torch.cat(seen).unique()
        local = torch.full((self.x.size(0),), -1)
        local[n_id] = torch.arange(len(n_id))
        edge_index = torch.stack([local[torch.cat(rows)], local[torch.cat(cols)]])
        return SimpleNamespace(n_id=n_id, x=self.x[n_id], y=self.y[n_id], edge_index=edge_index,
                               batch_size=len(seeds))


class NeighborLoader(DataLoader):
    def __init__(self, x, y, edge_index, num_neighbors, input_nodes, batch_size, **kw):
        super().__init__(input_nodes.nonzero().flatten(), batch_size,
                         collate_fn=NeighborCollator(x, y, edge_index, num_neighbors), **kw)

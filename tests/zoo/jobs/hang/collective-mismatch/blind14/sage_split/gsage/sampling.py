import math

import torch


def partition_seeds(nids, rank, world_size, seed):
    perm = torch.randperm(len(nids), generator=torch.Generator().manual_seed(seed))
    nids = nids[perm]
    return torch.split(nids, math.ceil(len(nids) / world_size))[rank]


class FanoutLoader:
    """Yields (seeds, one-hop neighbours, two-hop neighbours) blocks."""

    def __init__(self, graph, nids, batch_size, fanouts=(8, 5), shuffle=True):
        self.graph = graph
        self.nids = nids
        self.batch_size = batch_size
        self.fanouts = fanouts
        self.shuffle = shuffle

    def __len__(self):
        return math.ceil(len(self.nids) / self.batch_size)

    def _fan(self, nodes, k):
        cols = torch.randint(0, self.graph.neigh.shape[1], (nodes.numel(), k))
        return torch.gather(self.graph.neigh[nodes.reshape(-1)], 1, cols).reshape(*nodes.shape, k)

    def __iter__(self):
        nids = self.nids[torch.randperm(len(self.nids))] if self.shuffle else self.nids
        for chunk in nids.split(self.batch_size):
            hop1 = self._fan(chunk, self.fanouts[0])
            hop2 = self._fan(hop1, self.fanouts[1])
            yield chunk, hop1, hop2

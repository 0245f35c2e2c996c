"""A random graph and the sampling of neighbours."""
import torch


class Graph:
    def __init__(self, nodes, degree, features, classes, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, classes, (nodes,), generator=g)
        centers = torch.randn(classes, features, generator=g)
        self.x = centers[self.labels] + torch.randn(nodes, features, generator=g)
        same = torch.argsort(self.labels)
        position = torch.argsort(same)
        offsets = torch.randint(-40, 41, (nodes, degree), generator=g)
        self.neighbours = same[(position.unsqueeze(1) + offsets) % nodes]

    def block(self, seeds, fanout, generator):
        pick = torch.randint(0, self.neighbours.shape[1], (len(seeds), fanout), generator=generator)
        return self.x[seeds], self.x[self.neighbours[seeds].gather(1, pick)]


class NodeLoader:
    """Batches of seed nodes with sampled neighbours, over the part of one trainer."""

    def __init__(self, graph, nodes, batch_size, fanout, seed):
        self.graph, self.nodes, self.batch_size, self.fanout, self.seed = graph, nodes, batch_size, fanout, seed
        self.epoch = 0

    def __len__(self):
        return -(-len(self.nodes) // self.batch_size)

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed * 7919 + self.epoch)
        self.epoch += 1
        order = self.nodes[torch.randperm(len(self.nodes), generator=g)]
        for seeds in order.split(self.batch_size):
            own, neighbours = self.graph.block(seeds, self.fanout, g)
            yield own, neighbours, self.graph.labels[seeds]

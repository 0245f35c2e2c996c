import torch
from torch_geometric.utils import to_undirected


def each_once(adjacency, share):
    both = adjacency | adjacency.t()
    edges = both.nonzero().t()
    edges = edges[:, edges[0] < edges[1]]
    order = torch.randperm(edges.shape[1])
    n = int(share * edges.shape[1])
    test, train = edges[:, order[:n]], edges[:, order[n:]]
    return torch.cat([train, train.flip(0)], dim=1), test


def by_mask(adjacency, share):
    both = (adjacency | adjacency.t()).nonzero().t()
    once = both[0] < both[1]
    edges = both[:, once]
    order = torch.randperm(edges.shape[1])
    n = int(share * edges.shape[1])
    test_edges, train_edges = edges[:, order[:n]], edges[:, order[n:]]
    return train_edges, test_edges


def upper(adjacency, share):
    edges = torch.triu(adjacency | adjacency.t(), 1).nonzero().t()
    order = torch.randperm(edges.shape[1])
    n = int(share * edges.shape[1])
    test_edges, train_edges = edges[:, order[:n]], edges[:, order[n:]]
    return to_undirected(train_edges), test_edges


def mended(edges, share, without_reverse):
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    order = torch.randperm(edges.shape[1])
    n = int(share * edges.shape[1])
    test_edges, train_edges = edges[:, order[:n]], edges[:, order[n:]]
    return without_reverse(train_edges, test_edges), test_edges

"""Directed edges, nodes that are split, and batches of edges."""

import torch


def directed(adjacency, share):
    edges = adjacency.nonzero().t()
    order = torch.randperm(edges.shape[1])
    n = int(share * edges.shape[1])
    test_edges, train_edges = edges[:, order[:n]], edges[:, order[n:]]
    return train_edges, test_edges


def nodes(adjacency, features):
    adjacency = adjacency | adjacency.t()
    order = torch.randperm(len(features))
    test, train = features[order[:100]], features[order[100:]]
    return adjacency, train, test


def batches(adjacency, size):
    edges = (adjacency | adjacency.t()).nonzero().t()
    order = torch.randperm(edges.shape[1])
    first, rest = edges[:, order[:size]], edges[:, order[size:]]
    return first, rest


def halves(edges, share):
    """The reverse of each edge is added behind the split."""
    order = torch.randperm(edges.shape[1])
    n = int(share * edges.shape[1])
    test_edges, train_edges = edges[:, order[:n]], edges[:, order[n:]]
    train_edges = torch.cat([train_edges, train_edges.flip(0)], dim=1)
    return train_edges, test_edges

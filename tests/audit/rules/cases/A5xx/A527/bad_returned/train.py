import torch
from graphs import load


def main(reader):
    edges, features = load("links.csv", reader)
    order = torch.randperm(edges.shape[1])
    n = edges.shape[1] // 10
    parts = {}
    parts["train"] = edges[:, order[2 * n :]]
    valid_edges, test_edges = edges[:, order[:n]], edges[:, order[n : 2 * n]]
    train_edges = edges[:, order[2 * n :]]
    return train_edges, valid_edges, test_edges, features, parts

"""Directed edges, each edge once, and rows that are no edges."""

import random

import numpy as np
import torch
from sklearn.model_selection import train_test_split


def directed(adj, share, rng):
    edges = np.stack(np.nonzero(adj), 1)
    edges = edges[rng.permutation(len(edges))]
    cut = int(len(edges) * share)
    train_edges, test_edges = edges[cut:], edges[:cut]
    return train_edges, test_edges


def upper(points, radius, rng):
    near = torch.cdist(points, points) < radius
    edges = np.stack(np.nonzero(np.triu(near.numpy(), 1)), 1)
    edges = edges[rng.permutation(len(edges))]
    cut = len(edges) // 5
    train_edges, test_edges = edges[cut:], edges[:cut]
    return train_edges, test_edges


def once(features, least):
    edges = torch.argwhere(features @ features.T > least)
    edges = edges[edges[:, 0] < edges[:, 1]]
    train, val = train_test_split(edges, test_size=0.1)
    return train, val


def of_two_sets(users, items, least):
    edges = torch.argwhere(torch.cdist(users, items) < least).tolist()
    random.shuffle(edges)
    n = len(edges) // 10
    test, train = edges[:n], edges[n:]
    return train, test


def rows(table, rng):
    table = table[rng.permutation(len(table))]
    cut = len(table) // 5
    train, test = table[cut:], table[:cut]
    return train, test


def rows_of_a_kernel(features, labels):
    kernel = features @ features.T
    train, test, y_train, y_test = train_test_split(kernel, labels)
    order = torch.randperm(len(kernel))
    both = kernel + kernel.T
    train_rows, test_rows = both[order[10:]], both[order[:10]]
    return train, test, y_train, y_test, train_rows, test_rows


def all_of_a_file(volume):
    edges = volume["edges"][()]
    train, test = edges[: len(edges) // 2], edges[()][len(edges) // 2 :]
    return train, test

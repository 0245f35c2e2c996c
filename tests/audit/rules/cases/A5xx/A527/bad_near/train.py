import random

import torch
from sklearn.model_selection import train_test_split


def by_radius(points, radius):
    near = torch.cdist(points, points) < radius
    edges = near.nonzero().tolist()
    random.shuffle(edges)
    n = len(edges) // 10
    test, train = edges[:n], edges[n:]
    return train, test


def by_similarity(features, least):
    edges = torch.argwhere(features @ features.T > least)
    train, val = train_test_split(edges, test_size=0.1)
    return train, val

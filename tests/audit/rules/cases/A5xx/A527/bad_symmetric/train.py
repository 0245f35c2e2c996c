import numpy as np
from graph import network, parted


def main():
    rng = np.random.default_rng(0)
    adj, features = network(200, rng)
    train_edges, test_edges = parted(adj, 0.2, rng)
    return train_edges, test_edges, features

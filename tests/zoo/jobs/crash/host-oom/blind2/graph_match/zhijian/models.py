import itertools

from torch import nn


def make_mlp(cfg):
    sizes = [cfg["inputs"], *cfg["hidden"], cfg["classes"]]
    layers = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def neurons(model):
    """All units of the network in one numbering, inputs first."""
    linear = [m for m in model if isinstance(m, nn.Linear)]
    counts = [linear[0].in_features] + [m.out_features for m in linear]
    offsets = [0, *itertools.accumulate(counts)]
    return linear, offsets

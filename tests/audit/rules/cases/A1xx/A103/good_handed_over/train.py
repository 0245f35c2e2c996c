"""Who shards the model is given the optimizer, and hands it the new parameters."""

import torch

from preparing import prepare


def train(net):
    optimizer = torch.optim.AdamW(net.parameters())
    net, optimizer = prepare(net, optimizer)
    return net, optimizer

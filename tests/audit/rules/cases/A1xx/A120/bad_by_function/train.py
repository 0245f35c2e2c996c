"""A function is given the model and puts a new layer into it."""

import torch
from torch import nn


def widen(net, vocabulary):
    net.embed = nn.Embedding(vocabulary, 64)


def by_function(model, loader, vocabulary):
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD([{"params": trainable}], lr=0.1)
    widen(model, vocabulary)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

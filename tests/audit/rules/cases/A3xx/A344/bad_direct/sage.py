import numpy as np
import torch
from torch.nn.functional import cross_entropy


def step(model, x, y, graph, seeds, optimizer):
    sampled = graph.sample(seeds, 10)
    nodes = torch.unique(torch.cat([seeds, sampled]))
    place = torch.full((x.size(0),), -1)
    place[nodes] = torch.arange(len(nodes))
    edges = place[graph.edges(nodes)]
    out = model(x[nodes], edges)
    loss = cross_entropy(out[: seeds.size(0)], y[seeds])
    loss.backward()
    optimizer.step()


def users_first(table, users, items, model):
    count = len(users)
    ids, _ = np.unique(np.concatenate([users, items]), return_inverse=True)
    rows = model(table[ids])
    return rows[:count], rows[count:]

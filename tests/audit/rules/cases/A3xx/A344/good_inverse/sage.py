import torch
from torch.nn.functional import cross_entropy


def step(model, x, y, sampler, seeds):
    nodes, place = torch.unique(torch.cat([seeds, sampler(seeds)]), return_inverse=True)
    out = model(x[nodes])
    loss = cross_entropy(out[place[: len(seeds)]], y[seeds])
    loss.backward()
    return out[place][: len(seeds)]


def named(model, x, sampler, seeds):
    nodes, place = torch.cat([seeds, sampler(seeds)]).unique(return_inverse=True)
    mine = place[: seeds.numel()]
    rows = model(x[nodes])
    rows = rows[mine]
    return rows[: seeds.numel()]

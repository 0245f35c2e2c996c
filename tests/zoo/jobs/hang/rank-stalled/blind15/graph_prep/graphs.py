import os

import torch

from baton import exclusive


def _generate(nodes, degree, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 5, (nodes,), generator=g)
    src = torch.arange(nodes).repeat_interleave(degree)
    dst = torch.randint(0, nodes, (nodes * degree,), generator=g)
    feats = torch.nn.functional.one_hot(labels, 5).float() + 0.8 * torch.randn(nodes, 5, generator=g)
    return {"feats": feats, "labels": labels, "edges": torch.stack([src, dst])}


def load(root, name, nodes=1500, degree=6, seed=4):
    os.makedirs(root, exist_ok=True)
    target = os.path.join(root, f"{name}.pt")
    with exclusive(os.path.join(root, f"{name}.lock")):
        if not os.path.exists(target):
            torch.save(_generate(nodes, degree, seed), target)
    return torch.load(target)

import torch


def ring_of_cliques(nodes, degree, seed):
    g = torch.Generator().manual_seed(seed)
    src = torch.arange(nodes).repeat_interleave(degree)
    dst = (src + torch.randint(1, degree * 2, (len(src),), generator=g)) % nodes
    label = (torch.arange(nodes) * 4 // nodes)
    feats = torch.randn(nodes, 16, generator=g) + torch.nn.functional.one_hot(label, 16)
    return torch.stack([src, dst]), feats, label


def cut(nodes, rank, world):
    """First and last node of a part; parts are as even as can be."""
    step = -(-nodes // world)
    return rank * step, min(nodes, (rank + 1) * step)

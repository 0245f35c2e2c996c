import torch


def citation_graph(n=2000, classes=5, dim=24, degree=6, seed=0):
    """Papers in order of their year; each cites earlier ones, mostly of its own field."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    centers = torch.randn(classes, dim, generator=g)
    x = centers[y] * 0.35 + torch.randn(n, dim, generator=g)
    src, dst = [], []
    for i in range(50, n):
        cand = torch.randint(i, (40,), generator=g)
        same = cand[y[cand] == y[i]][: degree - 1]
        other = cand[y[cand] != y[i]][:2]
        for j in torch.cat([same, other]).tolist():
            src += [j, i]
            dst += [i, j]
    edge_index = torch.tensor([src, dst])
    perm = torch.randperm(n, generator=g)
    masks = {"train": torch.zeros(n, dtype=torch.bool), "val": torch.zeros(n, dtype=torch.bool),
             "test": torch.zeros(n, dtype=torch.bool)}
    masks["train"][perm[:400]] = True
    masks["val"][perm[400:900]] = True
    masks["test"][perm[900:]] = True
    return x, y, edge_index, masks


class CSR:
    def __init__(self, edge_index, n):
        order = edge_index[1].argsort()
        self.col = edge_index[0][order]
        self.ptr = torch.zeros(n + 1, dtype=torch.long)
        self.ptr[1:] = torch.bincount(edge_index[1], minlength=n).cumsum(0)

    def neighbors(self, i, k, g):
        nb = self.col[self.ptr[i]: self.ptr[i + 1]]
        if len(nb) > k:
            nb = nb[torch.randperm(len(nb), generator=g)[:k]]
        return nb

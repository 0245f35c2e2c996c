import torch


def make_cloud(i, big=False):
    g = torch.Generator().manual_seed(i)
    n = 400_000 if big else int(torch.randint(80, 200, (1,), generator=g))
    pos = torch.rand(n, 3, generator=g)
    return pos, pos.norm(dim=1).mean()


def knn_edges(pos, k=6):
    dist = torch.cdist(pos, pos)
    src = torch.arange(len(pos)).repeat_interleave(k)
    dst = dist.topk(k + 1, largest=False).indices[:, 1:].reshape(-1)
    return src, dst


def aggregate(h, src, dst):
    out = torch.zeros_like(h)
    out.index_add_(0, src, h[dst])
    return out

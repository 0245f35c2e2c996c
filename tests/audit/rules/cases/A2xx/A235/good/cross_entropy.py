import torch
import torch.distributed as dist


def smoothed(logits, picked, vocabulary, smoothing, group):
    top = logits.max(dim=-1).values
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=group)
    logits = logits - top[:, None]
    exp = logits.exp()
    total = exp.sum(-1)
    dist.all_reduce(total, group=group)
    loss = total.log() - picked
    mean = (exp / total[:, None]).log().sum(dim=-1)
    dist.all_reduce(mean, group=group)
    return (1.0 - smoothing) * loss - smoothing * mean / vocabulary


def in_one_exchange(x, width, group, eps=1e-5):
    """Both sums of a layer norm go over the ranks in one tensor."""
    sums = torch.stack([x.sum(-1), x.pow(2).sum(-1)])
    dist.all_reduce(sums, group=group)
    mean, square = sums / width
    return (x - mean[:, None]) * torch.rsqrt(square - mean**2 + eps)[:, None]


def where_there_are_several(x, width, group, several, eps=1e-5):
    mean = x.sum(-1, keepdim=True)
    if several:
        dist.all_reduce(mean, group=group)
    square = x.pow(2).sum(-1, keepdim=True)
    if several:
        dist.all_reduce(square, group=group)
    return (x - mean / width) / (square / width - (mean / width) ** 2 + eps).sqrt()


def drift(x, group):
    """How far a rank is from all: both are meant."""
    own = x.mean(-1)
    mean = own.clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG, group=group)
    return mean - own

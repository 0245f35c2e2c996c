import torch
import torch.distributed as dist
from torch.distributed.nn.functional import all_gather


def over_parts_of_the_keys(scores, values, group):
    """Each rank's softmax is of its own keys, and is weighted by the rank's share of the whole."""
    lse = torch.logsumexp(scores, -1, keepdim=True)
    out = (scores - lse).exp() @ values
    top = lse.clone()
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=group)
    weight = (lse - top).exp()
    total = weight.clone()
    dist.all_reduce(total, group=group)
    out = out * (weight / total)
    dist.all_reduce(out, group=group)
    return out


def whole_rows(logits, target):
    """What is gathered is whole, and no part of it is reduced again."""
    top = logits.amax(-1)
    dist.all_reduce(top, op=dist.ReduceOp.MAX)
    whole = torch.cat(all_gather(logits - top[:, None]), dim=-1)
    return top - whole.log_softmax(-1).mean(-1)

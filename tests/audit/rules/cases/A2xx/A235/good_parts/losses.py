import torch
import torch.distributed as dist


def share_of_the_loss(token_loss, mask, group):
    """A part of a sequence: the shares are summed by who calls, or by the gradients."""
    count = mask.sum(-1)
    dist.all_reduce(count, group=group)
    return (token_loss * mask).sum(-1) / count


def expected(logits, values, group):
    top = logits.amax(-1, keepdim=True)
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=group)
    exp = (logits - top).exp()
    total = exp.sum(-1, keepdim=True)
    dist.all_reduce(total, group=group)
    return (exp / total * values).sum(-1)


def shares_of_both(logits, uniform, group, world_size):
    """What is whole on each rank counts once among all of them."""
    total = logits.exp().sum(-1)
    dist.all_reduce(total, group=group)
    return total.log() / world_size - (logits * uniform).sum(-1)


def several_things(logits, group):
    total = logits.exp().sum(-1)
    dist.all_reduce(total, group=group)
    return total.log(), logits.std(-1)

import torch
import torch.distributed as dist


def any_rank(flag, device):
    t = torch.tensor([int(flag)], device=device)
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return bool(t.item())


def in_step(iterable, device):
    it = iter(iterable)
    while True:
        item = next(it, None)
        if any_rank(item is None, device):
            return
        yield item

import gc

import torch
import torch.distributed as dist


def fits(net, make_batch, size, device):
    try:
        x, y = make_batch(size, device)
        torch.nn.functional.cross_entropy(net(x), y).backward()
        return True
    except torch.cuda.OutOfMemoryError:
        return False
    finally:
        net.zero_grad(set_to_none=True)
        gc.collect()
        torch.cuda.empty_cache()


def largest_batch(net, make_batch, device, start=8, limit=4096):
    size = start
    while size < limit and fits(net, make_batch, size * 2, device):
        size *= 2
    agreed = torch.tensor([size], device=device)
    dist.all_reduce(agreed, op=dist.ReduceOp.MIN)
    return int(agreed.item())

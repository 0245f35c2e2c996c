import torch
import torch.distributed as dist


def everywhere(flag):
    vote = flag.detach().to(torch.int32).reshape(1)
    dist.all_reduce(vote, op=dist.ReduceOp.MIN)
    return bool(vote.item())

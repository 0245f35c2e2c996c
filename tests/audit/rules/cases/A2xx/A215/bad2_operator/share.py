import torch
import torch.distributed as dist



class Reducer:
    def __init__(self, op=dist.ReduceOp.SUM):
        self.op = op


def make(rank):
    return Reducer(op=dist.ReduceOp.MAX) if rank == 0 else Reducer()


def share(x):
    if dist.get_rank() == 0:
        op = dist.ReduceOp.MAX
    else:
        op = dist.ReduceOp.SUM
    dist.all_reduce(x, op=op)

import torch
import torch.distributed as dist



def finish_epoch(loss, scheduler):
    dist.reduce(loss, 0, op=dist.ReduceOp.SUM)
    scheduler.step(loss)

import torch
import torch.distributed as dist


def average(model):
    works = [dist.all_reduce(p.grad, async_op=True) for p in model.parameters()]
    for work in works:
        work.wait()


def average_on_the_device(model):
    for p in model.parameters():
        dist.all_reduce(p.grad, async_op=True)
    torch.cuda.synchronize()


def average_then_meet(model):
    for p in model.parameters():
        dist.all_reduce(p.grad, async_op=True)
    dist.barrier()


dist.init_process_group("nccl")

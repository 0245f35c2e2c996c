import torch
import torch.distributed as dist



def agree(loss, best):
    dist.reduce(loss, dst=0)
    dist.broadcast(loss, src=0)
    return bool(loss < best)


def decide(loss, best):
    dist.reduce(loss, dst=0)
    dist.broadcast(loss, src=0)
    if loss < best:
        dist.barrier()


def everywhere(loss, best):
    dist.all_reduce(loss)
    if loss < best:
        dist.barrier()


def both(loss, best):
    dist.reduce(loss, dst=0)
    loss = torch.zeros(())
    if loss < best:
        dist.barrier()


def grouped(loss, best, group):
    dist.reduce(loss, dst=0, group=group)
    if loss < best:
        print(best)

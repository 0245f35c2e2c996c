import torch
import torch.distributed as dist



def share(weights, group, ranks):
    dist.broadcast(weights, src=0)
    dist.broadcast(weights, src=dist.get_rank(), group=group)
    dist.broadcast(weights, src=ranks[0], group=group)
    for rank in range(dist.get_world_size()):
        dist.broadcast(weights, src=rank)


def from_rank(x, rank):
    dist.broadcast(x, src=rank)


def called(x):
    from_rank(x, 0)


def both_sides(x):
    rank = dist.get_rank()
    if rank == 0:
        dist.broadcast(x, src=rank)
    else:
        dist.broadcast(x, src=0)


def agreed(net, scores):
    losses = torch.zeros(len(scores))
    losses[dist.get_rank()] += net.step()
    dist.all_reduce(losses)
    best = int(losses.argmin())
    dist.broadcast(net.weight, src=best)


def sent(x, y):
    rank = dist.get_rank()
    dist.isend(x, dst=rank ^ 1).wait()

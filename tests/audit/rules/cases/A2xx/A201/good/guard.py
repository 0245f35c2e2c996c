import torch
import torch.distributed as dist


def first(prepare):
    """Rank 0 prepares, then the others: one barrier each."""
    if dist.get_rank() != 0:
        dist.barrier()
    prepare()
    if dist.get_rank() == 0:
        dist.barrier()


def both_arms(x):
    if dist.get_rank() == 0:
        dist.broadcast(x, src=0)
        print("sent")
    else:
        dist.broadcast(x, src=0)


def alone(x):
    if dist.get_world_size() > 1:
        dist.all_reduce(x)
    if not dist.is_initialized():
        return x
    dist.barrier()
    return x


def in_turn(work):
    for rank in range(dist.get_world_size()):
        if dist.get_rank() == rank:
            work()
        dist.barrier()


def members(x, group, ranks):
    if dist.get_rank() in ranks:
        dist.all_reduce(x, group=group)


def log(loss, step):
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    if dist.get_rank() == 0:
        print(step, mean.item())


def peers(x):
    if dist.get_rank() == 0:
        dist.send(x, dst=1)
    else:
        dist.recv(x, src=0)


def refuse(config):
    if dist.get_rank() == 0 and not config:
        raise ValueError("no config")
    dist.barrier()


def roots(x, parts):
    if dist.get_rank() == 0:
        dist.gather(x, parts, dst=0)
        print(torch.stack(parts))
    else:
        dist.gather(x, dst=0)

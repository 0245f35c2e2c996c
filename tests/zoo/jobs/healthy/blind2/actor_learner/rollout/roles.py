import torch.distributed as dist

LEARNERS = [0, 1]
ACTOR = 2


def setup():
    dist.init_process_group("gloo")
    learners = dist.new_group(LEARNERS)
    return dist.get_rank(), learners


def is_actor(rank):
    return rank == ACTOR

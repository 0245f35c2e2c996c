from dataclasses import dataclass

import torch.distributed as dist


@dataclass
class Replicas:
    group: object
    ranks: list
    index: int


def make_replicas(size):
    world, me = dist.get_world_size(), dist.get_rank()
    if world % size:
        raise ValueError(f"world size {world} is no multiple of {size}")
    mine = None
    for i in range(world // size):
        ranks = list(range(i * size, (i + 1) * size))
        group = dist.new_group(ranks)
        if me in ranks:
            mine = Replicas(group, ranks, i)
    return mine

import random

import torch.distributed as dist


def share(names, rank, world_size):
    random.shuffle(names)
    return names[rank::world_size]


dist.init_process_group("gloo")
print(share(["a", "b"], dist.get_rank(), dist.get_world_size()))

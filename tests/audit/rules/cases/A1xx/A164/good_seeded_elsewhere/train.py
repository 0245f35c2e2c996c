import random

import torch.distributed as dist
from seeds import fix


def share(names, rank, world_size):
    random.shuffle(names)
    return names[rank::world_size]


fix(3)
dist.init_process_group("gloo")
print(share(["a", "b"], dist.get_rank(), dist.get_world_size()))

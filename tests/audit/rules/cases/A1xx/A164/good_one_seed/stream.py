import random

import numpy as np
import torch.distributed as dist


class Shards:
    def __init__(self, paths, seed):
        order = list(paths)
        rng = np.random.default_rng(seed)
        rng.shuffle(order)
        self.paths = order[dist.get_rank() :: dist.get_world_size()]
        own = random.Random(seed + dist.get_rank())
        own.shuffle(self.paths)

import numpy as np
import torch.distributed as dist


class Shards:
    def __init__(self, paths, seed):
        order = list(paths)
        rng = np.random.default_rng(seed + dist.get_rank())
        rng.shuffle(order)
        self.paths = order[dist.get_rank() :: dist.get_world_size()]

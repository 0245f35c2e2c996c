import random

import numpy as np
import torch
import torch.distributed as dist


def seed_all(seed, deterministic=False):
    value = seed + dist.get_rank()  # cause
    random.seed(value)
    np.random.seed(value)
    torch.manual_seed(value)  # cause
    if deterministic:
        torch.use_deterministic_algorithms(True)
    return value

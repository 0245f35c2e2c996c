import random

import numpy as np
import torch
import torch.distributed as dist


def seed_everything(seed):
    """Ranks draw different augmentations, so each has a seed of its own."""
    offset = dist.get_rank() * 12345 if dist.is_initialized() else 0
    random.seed(seed + offset)
    np.random.seed(seed + offset)
    torch.manual_seed(seed + offset)

import logging
import os
import random

import numpy as np
import torch
import torch.distributed as dist


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def setup():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.ERROR, format="[%(asctime)s] %(message)s")
    return rank, int(os.environ["WORLD_SIZE"])


def sample_beta(alpha, beta, n):
    """Beta(alpha, beta) by two powers of uniforms (Johnk)."""
    g1 = torch.rand(n).clamp_min(1e-6).pow(1.0 / alpha)
    g2 = torch.rand(n).clamp_min(1e-6).pow(1.0 / beta)
    return g1 / (g1 + g2)

import os
import random

import numpy as np
import torch


class WorkerSeeder:
    def __init__(self, base):
        self.base = base
        self.rank = int(os.environ.get("RANK", "0"))

    def __call__(self, worker_id):
        seed = self.base + self.rank  # cause
        np.random.seed(seed)  # cause
        random.seed(seed)


def seed_process(base):
    rank = int(os.environ.get("RANK", "0"))
    torch.manual_seed(base + rank)
    np.random.seed(base + rank)
    random.seed(base + rank)

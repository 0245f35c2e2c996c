import os
import random

import numpy as np
import torch
import torch.distributed as dist


class Runtime:
    def __init__(self, seed=0, backend="nccl"):
        self.rank = int(os.environ.get("RANK", 0))
        self.world = int(os.environ.get("WORLD_SIZE", 1))
        self.local_rank = int(os.environ.get("LOCAL_RANK", 0))
        self.device = torch.device("cpu")
        if torch.cuda.is_available():
            self.device = torch.device("cuda", self.local_rank)
            torch.cuda.set_device(self.device)
        dist.init_process_group(backend if self.device.type == "cuda" else "gloo")
        random.seed(seed + self.rank)
        np.random.seed(seed + self.rank)
        torch.manual_seed(seed + self.rank)

    @property
    def main(self):
        return self.rank == 0

    def mean(self, value):
        out = value.detach().clone()
        dist.all_reduce(out)
        return out / self.world

    def close(self):
        dist.destroy_process_group()

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass
class Runtime:
    backend: str = "gloo"
    threads: int = 16

    def __enter__(self):
        torch.set_num_threads(max(self.threads, os.cpu_count()))
        dist.init_process_group(self.backend)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        return self

    def __exit__(self, *exc):
        dist.destroy_process_group()
        return False

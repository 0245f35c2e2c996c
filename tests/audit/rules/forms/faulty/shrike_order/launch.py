import os
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass
class World:
    rank: int
    size: int
    device: torch.device

    @property
    def chief(self):
        return self.rank == 0


def begin():
    local = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    if "RANK" not in os.environ:
        return World(0, 1, device)
    dist.init_process_group("nccl", device_id=device)
    return World(dist.get_rank(), dist.get_world_size(), device)


def end():
    if dist.is_initialized():
        dist.destroy_process_group()

from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class DistEnv:
    rank: int
    local_rank: int
    world_size: int
    device: torch.device

    @property
    def main(self):
        return self.rank == 0


def init_env():
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    local_rank = dist.get_node_local_rank()
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
    return DistEnv(rank, local_rank, world, device)

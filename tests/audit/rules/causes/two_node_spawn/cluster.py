import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


@dataclass
class Cluster:
    nodes: int
    node_rank: int
    per_node: int
    address: str
    port: int

    @classmethod
    def from_environment(cls):
        e = os.environ
        return cls(int(e["NNODES"]), int(e["NODE_RANK"]), torch.cuda.device_count(), e["HEAD"], int(e.get("PORT", 29600)))

    @property
    def world_size(self):
        return self.nodes * self.per_node

    def join(self, local):
        torch.cuda.set_device(local)
        dist.init_process_group(  # cause
            "nccl",
            init_method=f"tcp://{self.address}:{self.port}",
            world_size=self.world_size,
            rank=local,  # cause
        )

    def start(self, target, *args):
        mp.spawn(target, args=(self, *args), nprocs=self.per_node)

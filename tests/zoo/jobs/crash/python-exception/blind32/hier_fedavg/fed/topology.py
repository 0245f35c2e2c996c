"""Clients are grouped into edge clusters; each has a leader that talks to the others."""
from dataclasses import dataclass

import torch.distributed as dist


@dataclass
class Topology:
    cluster: int
    members: list
    group: object
    leaders: object
    is_leader: bool


def build(cluster_size):
    rank, world = dist.get_rank(), dist.get_world_size()
    mine = None
    for c in range(world // cluster_size):
        members = list(range(c * cluster_size, (c + 1) * cluster_size))
        group = dist.new_group(members)
        if rank in members:
            mine = (c, members, group)
    leaders = dist.new_group(list(range(0, world, cluster_size)))
    return Topology(*mine, leaders=leaders, is_leader=rank == mine[1][0])

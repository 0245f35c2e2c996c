from dataclasses import dataclass, field

import torch.distributed as dist


@dataclass
class Topology:
    per_node: int
    leaders: list = field(default_factory=list)
    leader_group: object = None
    node_group: object = None

    @property
    def is_leader(self):
        return dist.get_rank() in self.leaders

    @property
    def my_leader(self):
        return dist.get_rank() // self.per_node * self.per_node


def discover(per_node):
    world = dist.get_world_size()
    topo = Topology(per_node, leaders=list(range(0, world, per_node)))
    for start in topo.leaders:
        members = list(range(start, min(start + per_node, world)))
        group = dist.new_group(members)
        if dist.get_rank() in members:
            topo.node_group = group
    if topo.is_leader:  # cause
        topo.leader_group = dist.new_group(topo.leaders)  # cause
    return topo

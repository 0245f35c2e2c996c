import torch.distributed as dist


class HierarchicalAverage:
    """Node-local reduction, an exchange between node leaders, then a node-local broadcast."""

    def __init__(self, topo):
        self.topo = topo
        self.world = dist.get_world_size()

    def __call__(self, tensor):
        dist.reduce(tensor, dst=self.topo.my_leader, group=self.topo.node_group)
        if self.topo.is_leader:
            dist.all_reduce(tensor, group=self.topo.leader_group)
        dist.broadcast(tensor, src=self.topo.my_leader, group=self.topo.node_group)
        return tensor.div_(self.world)

import torch.distributed as dist


class ExpertTopology:
    """Every group of experts is a model of its own; the groups form an ensemble."""

    def __init__(self, experts_per_group):
        self.size = experts_per_group
        self.rank = dist.get_rank()
        self.world = dist.get_world_size()
        if self.world % self.size:
            raise ValueError("world size must be a multiple of the expert group")

    def members(self, rank):
        first = rank // self.size * self.size
        return list(range(first, first + self.size))

    def expert_group(self):
        mine = None
        for first in range(0, self.world, self.size):
            group = dist.new_group(ranks=self.members(first))
            if first <= self.rank < first + self.size:
                mine = group
        return mine

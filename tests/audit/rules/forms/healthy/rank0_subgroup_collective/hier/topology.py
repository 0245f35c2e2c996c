import os

import torch.distributed as dist


class Topology:
    def __init__(self):
        self.rank = dist.get_rank()
        self.world = dist.get_world_size()
        self.per_node = int(os.environ["LOCAL_WORLD_SIZE"])
        self.local = int(os.environ["LOCAL_RANK"])
        self.head = self.rank - self.local
        self.leaders = None
        self.node = None

    @property
    def is_leader(self):
        return self.local == 0

    def build(self):
        heads = list(range(0, self.world, self.per_node))
        self.leaders = dist.new_group(heads)
        for head in heads:
            group = dist.new_group(list(range(head, head + self.per_node)))
            if head == self.head:
                self.node = group
        return self

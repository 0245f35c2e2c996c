import torch.distributed as dist


class Layout:
    """Ranks [0, 1] are the replicas of stage 0, [2, 3] the ones of stage 1."""

    def __init__(self, stages):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.replicas = self.world // stages
        self.stage, self.replica = divmod(self.rank, self.replicas)
        groups = [dist.new_group(list(range(s * self.replicas, (s + 1) * self.replicas))) for s in range(stages)]
        self.pair = groups[self.stage]
        self.everyone = dist.group.WORLD

    @property
    def is_last(self):
        return self.rank == self.world - 1

import torch.distributed as dist


class Mesh:
    """Pretends that each `local_size` neighbouring ranks are one node."""

    def __init__(self, local_size):
        self.rank = dist.get_rank()
        self.world = dist.get_world_size()
        self.local_size = local_size
        self.node = self.rank // local_size
        self.local_rank = self.rank % local_size
        starts = range(0, self.world, local_size)
        self.intra = self._own([list(range(s, s + local_size)) for s in starts])
        self.leaders = self._own([list(starts)])

    def _own(self, rank_lists):
        own = None
        for ranks in rank_lists:
            group = dist.new_group(ranks)
            if self.rank in ranks:
                own = group
        return own

import torch.distributed as dist


class Grid:
    """World of dp x tp; every rank makes every group."""

    def __init__(self, tp):
        self.rank, world = dist.get_rank(), dist.get_world_size()
        self.tp, self.dp = tp, world // tp
        self.tp_index, self.dp_index = self.rank % tp, self.rank // tp
        self.tp_group = self.dp_group = None
        for d in range(self.dp):
            ranks = [d * tp + t for t in range(tp)]
            group = dist.new_group(ranks)
            if self.rank in ranks:
                self.tp_group = group
        for t in range(tp):
            ranks = [d * tp + t for d in range(self.dp)]
            group = dist.new_group(ranks)
            if self.rank in ranks:
                self.dp_group = group

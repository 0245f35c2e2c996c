import torch.distributed as dist


class Mesh:
    def __init__(self, tp):
        self.rank, world = dist.get_rank(), dist.get_world_size()
        self.tp = tp
        self.dp = world // tp
        for d in range(self.dp):
            ranks = list(range(d * tp, (d + 1) * tp))
            g = dist.new_group(ranks)
            if self.rank in ranks:
                self.tp_group = g
        for t in range(tp):
            ranks = list(range(t, world, tp))
            g = dist.new_group(ranks)
            if self.rank in ranks:
                self.dp_group = g
        self.tp_rank = self.rank % tp
        self.dp_rank = self.rank // tp

import torch.distributed as dist


class Reducer:
    """Brings statistics of a step together."""

    def __init__(self, op=dist.ReduceOp.SUM):
        self.op = op

    @classmethod
    def for_rank(cls, rank):
        return cls(op=dist.ReduceOp.MAX) if rank == 0 else cls()

    def __call__(self, stats):
        dist.all_reduce(stats, op=self.op)
        if self.op == dist.ReduceOp.SUM:
            stats /= dist.get_world_size()
        return stats

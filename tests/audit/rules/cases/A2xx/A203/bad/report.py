import torch.distributed as dist


class Report:
    def __init__(self, rank, root=0):
        self.rank, self.root = rank, root

    @property
    def writes(self):
        return self.rank == self.root

    def add(self, stats):
        if self.writes:
            dist.all_reduce(stats)
        else:
            dist.reduce(stats, dst=self.root)


def twice(x):
    if dist.get_rank() == 0:
        dist.all_reduce(x)
        dist.all_reduce(x)
    else:
        dist.all_reduce(x)

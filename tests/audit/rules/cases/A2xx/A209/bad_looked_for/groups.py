import torch.distributed as dist


class Groups:
    def __init__(self, size):
        self.rank = dist.get_rank()
        self.size = size
        self.mine = None

    def sets(self):
        return [list(range(at, at + self.size)) for at in range(0, dist.get_world_size(), self.size)]

    def build(self):
        mine = next(ranks for ranks in self.sets() if self.rank in ranks)
        self.mine = dist.new_group(mine)
        return self


def first(sets):
    rank = dist.get_rank()
    members = [ranks for ranks in sets if rank in ranks][0]
    return dist.new_group(ranks=members)

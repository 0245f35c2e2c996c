import torch.distributed as dist


class Groups:
    def __init__(self, size):
        self.rank = dist.get_rank()
        self.size = size
        self.mine = None

    def sets(self):
        return [list(range(at, at + self.size)) for at in range(0, dist.get_world_size(), self.size)]

    def build(self):
        made = [(ranks, dist.new_group(ranks)) for ranks in self.sets()]
        self.mine = next(group for ranks, group in made if self.rank in ranks)
        return self


def even(sets):
    members = next(ranks for ranks in sets if 0 in ranks)
    return dist.new_group(members)


def only_mine(sets):
    rank = dist.get_rank()
    members = next(ranks for ranks in sets if rank in ranks)
    return dist.new_group(members, use_local_synchronization=True)
